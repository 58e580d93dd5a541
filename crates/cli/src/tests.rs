//! Tests the forms of the command line that the parser accepts and rejects.

use clap::{CommandFactory, Parser};

use super::Cli;

#[test]
fn command_line_passes_debug_assertions() {
    Cli::command().debug_assert();
}

#[test]
fn payment_decision_without_a_flag_names_all_three() {
    let line = "cais crypto review resolve-payment 5077125051 --note x";
    let error = Cli::try_parse_from(line.split(' ')).err().map(|error| error.to_string()).unwrap_or_default();
    for flag in ["--credit", "--at-rate", "--dismiss"] {
        assert!(error.contains(flag), "{flag} is missing in {error}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of command lines")]
fn command_lines_are_accepted_or_rejected() {
    for (line, good) in [
        ("cais serve", true),
        ("cais serve --sandbox", true),
        ("cais --config x.toml serve", true),
        ("cais account create --email a@b.co --name Shop --document 12345678909 --approve --json", true),
        ("cais account create --email a@b.co --name Shop --document 12345678900", false),
        ("cais account create --email nobody --name Shop --document 12345678909", false),
        ("cais account features --account a@b.co --enable split,crypto_in --disable pix_out", true),
        ("cais account features --account a@b.co --enable gold", false),
        ("cais account reject --account a@b.co", true),
        ("cais account features --account a@b.co", false),
        ("cais account limits --account a@b.co --charge -1", false),
        ("cais account fees --account a@b.co --operation pix_in --fixed 0.50 --percent 0.99 --min 0.10 --max 5", true),
        ("cais account fees --account a@b.co --operation pix_in --percent 101", false),
        ("cais account limits --account a@b.co --charge 50000 --payout 50000", true),
        ("cais account limits --account a@b.co", false),
        ("cais account release-delay --account a@b.co --seconds 60", true),
        ("cais account acquirers --account a@b.co --order main,backup", true),
        ("cais account acquirers --account a@b.co --default", true),
        ("cais account acquirers --account a@b.co", false),
        ("cais account acquirers --account a@b.co --order Main", false),
        ("cais account acquirers --account a@b.co --order main --default", false),
        ("cais acquirer list --json", true),
        ("cais acquirer drain main", true),
        ("cais acquirer drain", false),
        ("cais acquirer undrain main --json", true),
        ("cais acquirer test main", true),
        ("cais acquirer test main --paid E12345678202611201200abcdefghijk --payout-to a@b.co --report r.json", true),
        ("cais acquirer test main --paid E1", false),
        ("cais acquirer undrain Main", false),
        ("cais account crypto-spread --account a@b.co --percent 1.5", true),
        ("cais account crypto-spread --account a@b.co --default", true),
        ("cais account crypto-spread --account a@b.co", false),
        ("cais account crypto-spread --account a@b.co --percent 10.5", false),
        ("cais account crypto-spread --account a@b.co --percent 1 --default", false),
        ("cais key create --account a@b.co --name x --scopes all --expires-in-days 30 --allow 10.0.0.0/8,::1", true),
        ("cais key create --account a@b.co --name x --scopes gold", false),
        ("cais key revoke ABCdef123456", true),
        ("cais operator create --email ops@cais.example --json", true),
        ("cais operator create --email nobody", false),
        ("cais login-link --email a@b.co --json", true),
        ("cais login-link", false),
        ("cais callback list --json", true),
        ("cais callback retry ntc_01kb0000000000000000000000 --json", true),
        ("cais callback retry chg_01kb0000000000000000000000", false),
        ("cais audit list", true),
        ("cais audit list --account a@b.co --by ana --action key.create --limit 200 --json", true),
        ("cais audit list --limit 201", false),
        ("cais --operator ana account suspend --account a@b.co", true),
        ("cais ledger verify", true),
        ("cais ledger report --json", true),
        (
            "cais payout credit-return pyt_01h455vb4pex5vsknk084sn02w --return-id D1234567820260102030400000000001 --amount 7.50 --note x",
            true,
        ),
        (
            "cais payout credit-return pyt_01h455vb4pex5vsknk084sn02w --return-id D1234567820260102030400000000001 --amount 0 --note x",
            false,
        ),
        (
            "cais payout credit-return pyt_01h455vb4pex5vsknk084sn02w --return-id D1234567820260102030400000000001 --amount 7.50",
            false,
        ),
        ("cais infraction list", true),
        ("cais infraction list --account a@b.co --status open --json", true),
        ("cais infraction list --status closed", false),
        ("cais infraction list --needs-review", true),
        ("cais infraction list --needs-review --status open", false),
        ("cais infraction resolve inf_01h455vb4pex5vsknk084sn02w --outcome lost --lost-amount 7.50 --note x", true),
        ("cais infraction resolve inf_01h455vb4pex5vsknk084sn02w --outcome won --note x --json", true),
        ("cais infraction resolve inf_01h455vb4pex5vsknk084sn02w --outcome won", false),
        ("cais infraction resolve inf_01h455vb4pex5vsknk084sn02w --outcome open --note x", false),
        ("cais infraction resolve inf_01h455vb4pex5vsknk084sn02w --outcome lost --lost-amount 0 --note x", false),
        ("cais infraction show inf_01h455vb4pex5vsknk084sn02w", true),
        ("cais infraction show chg_01h455vb4pex5vsknk084sn02q", false),
        ("cais crypto review list --json", true),
        ("cais crypto review resolve cwd_01h455vb4pex5vsknk084sn02z --outcome failed --note x", true),
        ("cais crypto review resolve cwd_01h455vb4pex5vsknk084sn02z --outcome sent --tx-hash 7f2c --note x", true),
        ("cais crypto review resolve cwd_01h455vb4pex5vsknk084sn02z --outcome sent --note x", false),
        ("cais crypto review resolve cwd_01h455vb4pex5vsknk084sn02z --outcome failed", false),
        ("cais crypto review resolve-payment 5077125051 --at-rate --note x --json", true),
        ("cais crypto review resolve-payment 5077125051 --credit 20.50 --note x", true),
        ("cais crypto review resolve-payment 5077125051 --credit 20.50 --at-rate --note x", false),
        ("cais crypto review resolve-payment 5077125051 --at-rate --dismiss --note x", false),
        ("cais crypto review resolve-payment 5077125051 --credit 20.50 --dismiss --note x", false),
        ("cais crypto review resolve-payment 5077125051 --note x", false),
        ("cais crypto rate accept --currency btc --expect 350000.5 --note x --json", true),
        ("cais crypto rate accept --currency btc --note x", false),
        ("cais crypto rate accept --currency doge --expect 1 --note x", false),
        ("cais crypto rate accept --currency btc --expect 0 --note x", false),
        ("cais listen --forward-to http://127.0.0.1:3000/hooks", true),
        (
            "cais listen --forward-to http://127.0.0.1:3000 --key-file k --secret-file s --base-url http://x/v1 --events charge.paid,refund.failed",
            true,
        ),
        ("cais listen --forward-to http://127.0.0.1:3000 --events charge.made", false),
        ("cais listen", false),
        ("cais listen --forward-to localhost:3000", true),
        ("cais listen --forward-to 3000", true),
        ("cais listen --forward-to ftp://localhost:3000", false),
        ("cais doctor --sandbox --json", true),
        ("cais completions zsh", true),
        ("cais completions tcl", false),
        ("cais man --out pages", true),
        ("cais webhook verify --secret-file - --id evt_1 --timestamp 1 --signature v1,x body.json", true),
        ("cais webhook verify --id evt_1 --timestamp -1 --signature v1,x --any-age", true),
        ("cais webhook verify --secret whsec_x --id evt_1 --timestamp 1 --signature v1,x", false),
        ("cais listen --forward-to http://127.0.0.1:3000 --key k", false),
        ("cais webhook verify --id evt_1 --timestamp 1", false),
        ("cais reconcile --from 2026-01-01 --to 2026-01-31 --no-repair --json", true),
        ("cais reconcile --from 2026-01-01T00:00:00Z", true),
        ("cais reconcile --to 2026-01-31", false),
        ("cais reconcile --from yesterday", false),
        ("cais migrate --status", true),
        ("cais sandbox --listen 127.0.0.1:0 --json", true),
        ("cais", false),
    ] {
        assert_eq!(Cli::try_parse_from(line.split(' ')).is_ok(), good, "{line}");
    }
}
