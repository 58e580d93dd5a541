//! Webhooks as Cais sends them: signed as Standard Webhooks say, to receivers that may be called, and no others.
