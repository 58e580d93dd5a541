//! The texts of the public payment page.

catalogue! {
    /// The texts of the public payment page.
    PayTexts, same: [];

    pay_to: "Pague com Pix para", "Pay with Pix to";
    qr: "Código QR do Pix", "QR code of the Pix";
    scan: "Abra o aplicativo do seu banco, escolha Pix e leia o código QR. Ou copie o código abaixo e cole-o em Pix copia e cola.", "Open the app of your bank, choose Pix and scan the QR code. Or copy the code below and paste it as Pix copia e cola.";
    code: "Pix copia e cola", "Pix copy-and-paste code";
    copy: "Copiar o código", "Copy the code";
    copied: "Copiado", "Copied";
    left: "Expira em", "Expires in";
    waits: "A página mostra o pagamento assim que ele chega.", "The page shows the payment as soon as it arrives.";
    paid: "Pagamento recebido", "Payment received";
    paid_at: "Pago em", "Paid at";
    expired: "Esta cobrança expirou", "This charge has expired";
    expired_text: "Peça uma nova cobrança ao vendedor. Não pague o código antigo.", "Ask the seller for a new charge. Do not pay the old code.";
    cancelled: "Esta cobrança foi cancelada", "This charge was cancelled";
    cancelled_text: "Não pague o código antigo.", "Do not pay the old code.";
    refunded: "Pagamento devolvido", "Payment refunded";
    sandbox_pay: "Pagar no ambiente de testes", "Pay in the sandbox";
}
