//! hey. Its rate is for each worker, its requests are shared evenly by its workers, and its flags are Go's: long
//! names may stand after one dash.

use super::native::{Native, Ours, timeout, with_units};
use super::shared_evenly;
use anyhow::{Result, bail};
use units::Count;

/// Redirects that hey follows: Go's client stops before the tenth.
const REDIRECTS: u32 = 9;
/// Long flags of hey; all others have one letter.
const LONG: [&str; 7] =
    ["h2", "host", "disable-compression", "disable-keepalive", "disable-redirects", "cpus", "more"];

/// Flags of hey.
#[derive(Debug, clap::Parser)]
pub(super) struct Hey {
    /// Requests in total
    #[arg(short, default_value = "200")]
    n: Count,
    /// Workers
    #[arg(short, default_value = "50")]
    c: Count,
    /// Requests per second of each worker
    #[arg(short)]
    q: Option<f64>,
    /// Duration; -n is ignored then
    #[arg(short)]
    z: Option<String>,
    /// Method
    #[arg(short)]
    m: Option<String>,
    /// Header, repeatable
    #[arg(short = 'H')]
    headers: Vec<String>,
    /// Time-out of a request in seconds; 0 for none
    #[arg(short, default_value = "20")]
    t: f64,
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
    #[arg(short = 'T', default_value = "text/html")]
    content_type: String,
    /// Basic authentication, user:password
    #[arg(short)]
    a: Option<String>,
    /// csv for one row a request
    #[arg(short)]
    o: Option<Output>,
    /// Proxy, host:port
    #[arg(short = 'x')]
    proxy: Option<String>,
    /// HTTP/2
    #[arg(long)]
    h2: bool,
    /// Host header
    #[arg(long)]
    host: Option<String>,
    /// Do not ask for compressed answers
    #[arg(long)]
    disable_compression: bool,
    /// A connection for each request
    #[arg(long)]
    disable_keepalive: bool,
    /// Do not follow redirects
    #[arg(long)]
    disable_redirects: bool,
    /// CPU cores: threads here
    #[arg(long)]
    cpus: Option<u32>,
    #[command(flatten)]
    ours: Ours,
    /// Where to
    url: String,
}

/// The only output of hey besides its summary.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Output {
    Csv,
}

/// Where the rows go that hey prints.
const ROWS: &str = "hey.csv";

/// Go takes `-host` for `--host`.
pub(super) fn long_with_two_dashes(arguments: &[String]) -> Vec<String> {
    let is_long = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        word.starts_with('-') && !word.starts_with("--") && LONG.contains(&&name[1..])
    };
    arguments.iter().map(|word| if is_long(word) { format!("-{word}") } else { word.clone() }).collect()
}

pub(super) fn translate(hey: Hey) -> Result<Native> {
    let mut native = Native::new(&hey.url);
    native.set("-c", hey.c);
    amount(&mut native, &hey)?;
    native.set_some("-t", hey.cpus.map(|cpus| u64::from(cpus).min(hey.c.0)));
    native.set_some("-m", hey.m.as_ref());
    native.headers(&hey.headers);
    native.set_some("-H", hey.host.as_ref().map(|host| format!("Host: {host}")));
    native.set_some("-H", hey.accept.as_ref().map(|accept| format!("Accept: {accept}")));
    native.default_header(&hey.headers, "Content-Type", &hey.content_type);
    if !hey.disable_compression {
        native.default_header(&hey.headers, "Accept-Encoding", "gzip");
    }
    native.basic_auth(hey.a.as_deref());
    body(&mut native, &hey);
    native.set("--timeout", timeout(hey.t)?);
    // It has HTTP/2 over TLS only.
    let is_https = hey.url.get(..6).is_some_and(|begin| begin.eq_ignore_ascii_case("https:"));
    native.set_some("--http", (hey.h2 && is_https).then_some("2"));
    native.switch("--disable-keepalive", hey.disable_keepalive);
    // With its scheme it is known as a URL, whose password is not shown.
    let with_scheme =
        |proxy: &String| if proxy.contains("://") { proxy.clone() } else { format!("http://{proxy}") };
    native.set_some("--proxy", hey.proxy.as_ref().map(with_scheme));
    if !hey.disable_redirects {
        native.note("hey follows redirects to every host, prony only within the origin of the URL");
        native.argument(&format!("--follow={REDIRECTS}"));
    }
    if let (Some(Output::Csv), false) = (hey.o, hey.ours.has_rows()) {
        native.set("--each", ROWS);
        native.note(format!(
            "hey prints its rows, in seconds; prony writes them to {ROWS}, in nanoseconds and with columns of its own \
             (--each names another file)"
        ));
    }
    native.ours(&hey.ours);
    Ok(native)
}

fn amount(native: &mut Native, hey: &Hey) -> Result<()> {
    if hey.c.0 == 0 {
        bail!("-c 0 would send nothing; give at least 1");
    }
    // hey takes a rate of 0 for none.
    let rate_per_s =
        hey.q.filter(|per_worker| *per_worker > 0.0).map(|per_worker| per_worker * hey.c.0 as f64);
    if rate_per_s.is_some() {
        native.note_open_loop("hey");
    }
    match (&hey.z, rate_per_s) {
        (Some(time), rate_per_s) => {
            native.set("-d", with_units(time)?);
            native.set_some("-R", rate_per_s);
        }
        (None, rate_per_s) => {
            let requests = shared_evenly(hey.n.0, hey.c.0, "requests", "workers")?;
            if requests != hey.n.0 {
                native.note(format!(
                    "hey lets each worker send as many as the others, so it sends {requests} of {}",
                    hey.n
                ));
            }
            match rate_per_s {
                Some(rate_per_s) => native.count_at_rate(requests, rate_per_s)?,
                None => native.set("-n", requests),
            }
        }
    }
    Ok(())
}

/// hey sends GET with a body as GET.
fn body(native: &mut Native, hey: &Hey) {
    let body = match (&hey.body_file, &hey.d) {
        (Some(file), _) => Some(format!("@{file}")),
        (None, Some(text)) => Some(text.clone()),
        (None, None) => None,
    };
    if body.is_some() && hey.m.is_none() {
        native.set("-m", "GET");
    }
    native.set_some("-b", body);
}
