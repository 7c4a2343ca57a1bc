//! oha. Its rate is for all connections together.

use super::native::{Certificates, Native, Ours, with_units};
use anyhow::Result;
use units::Count;

/// Flags of oha.
#[derive(Debug, clap::Parser)]
pub(super) struct Oha {
    /// Requests in total
    #[arg(short, default_value = "200")]
    n: Count,
    /// Connections
    #[arg(short, default_value = "50")]
    c: Count,
    /// Duration; -n is ignored then
    #[arg(short)]
    z: Option<String>,
    /// Requests per second in total
    #[arg(short)]
    q: Option<f64>,
    /// Measure from the intended time, as prony always does
    #[arg(long)]
    latency_correction: bool,
    /// Method
    #[arg(short, long)]
    method: Option<String>,
    /// Header, repeatable
    #[arg(short = 'H')]
    headers: Vec<String>,
    /// Time-out of a request
    #[arg(short)]
    t: Option<String>,
    /// Time-out of a connection attempt
    #[arg(long, default_value = "5s")]
    connect_timeout: String,
    /// Accept header
    #[arg(short = 'A')]
    accept: Option<String>,
    /// Body
    #[arg(short, allow_hyphen_values = true)]
    d: Option<String>,
    /// File with the body
    #[arg(short = 'D')]
    body_file: Option<String>,
    /// Content type
    #[arg(short = 'T')]
    content_type: Option<String>,
    /// Basic authentication, user:password
    #[arg(short)]
    a: Option<String>,
    /// Most redirects to follow
    #[arg(short, long, default_value = "10")]
    redirect: u32,
    /// HTTP/2
    #[arg(long)]
    http2: bool,
    /// Host header
    #[arg(long)]
    host: Option<String>,
    /// Do not ask for compressed answers
    #[arg(long)]
    disable_compression: bool,
    /// A connection for each request
    #[arg(long)]
    disable_keepalive: bool,
    /// Accept any certificate
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    certificates: Certificates,
    /// Connect to another host and port
    #[arg(long)]
    connect_to: Option<String>,
    /// Connect to a Unix socket
    #[arg(long)]
    unix_socket: Option<String>,
    /// Output file
    #[arg(short)]
    o: Option<String>,
    /// No colours: prony knows from NO_COLOR
    #[arg(long, alias = "disable-color")]
    no_color: bool,
    #[command(flatten)]
    ours: Ours,
    /// Where to
    url: String,
}

pub(super) fn translate(oha: Oha) -> Result<Native> {
    let mut native = Native::new(&oha.url);
    native.set("-c", oha.c);
    amount(&mut native, &oha)?;
    native.set_some("-m", oha.method.as_ref());
    native.headers(&oha.headers);
    native.set_some("-H", oha.host.as_ref().map(|host| format!("Host: {host}")));
    native.default_header(&oha.headers, "Accept", oha.accept.as_deref().unwrap_or("*/*"));
    native.set_some("-H", oha.content_type.as_ref().map(|of| format!("Content-Type: {of}")));
    if !oha.disable_compression {
        native.default_header(&oha.headers, "Accept-Encoding", "gzip, compress, deflate, br");
    }
    native.basic_auth(oha.a.as_deref());
    body(&mut native, &oha);
    native.set("--timeout", oha.t.as_deref().map_or("1h".to_owned(), str::to_owned));
    native.set("--connect-timeout", with_units(&oha.connect_timeout)?);
    native.set_some("--http", oha.http2.then_some("2"));
    native.switch("--disable-keepalive", oha.disable_keepalive);
    native.switch("--insecure", oha.insecure);
    native.certificates(&oha.certificates);
    for (option, value) in
        [("--connect-to", &oha.connect_to), ("--unix-socket", &oha.unix_socket), ("-o", &oha.o)]
    {
        native.set_some(option, value.as_ref());
    }
    if oha.redirect > 0 {
        native.note("oha follows redirects to every host, prony only within the origin of the URL");
        native.argument(&format!("--follow={}", oha.redirect));
    }
    native.ours(&oha.ours);
    Ok(native)
}

fn amount(native: &mut Native, oha: &Oha) -> Result<()> {
    if oha.q.is_some() && !oha.latency_correction {
        native.note_open_loop("oha without --latency-correction");
    }
    match (&oha.z, oha.q) {
        (Some(time), rate_per_s) => {
            native.set("-d", with_units(time)?);
            native.set_some("-R", rate_per_s);
        }
        (None, Some(rate_per_s)) => native.count_at_rate(oha.n.0, rate_per_s)?,
        (None, None) => native.set("-n", oha.n),
    }
    Ok(())
}

/// oha sends GET with a body as GET.
fn body(native: &mut Native, oha: &Oha) {
    let body = match (&oha.body_file, &oha.d) {
        (Some(file), _) => Some(format!("@{file}")),
        (None, text) => text.clone(),
    };
    if body.is_some() && oha.method.is_none() {
        native.set("-m", "GET");
    }
    native.set_some("-b", body);
}
