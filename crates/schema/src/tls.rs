//! TLS as a user asks for it: `tls` of a target in an experiment file, and the options of `prony load`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `tls`: how connections to an `https://` target are made; every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlsUse {
    /// Accept any certificate. Default false.
    #[serde(default)]
    pub insecure: bool,
    /// File with the trusted certificates, PEM. Default: those of the system.
    pub ca: Option<String>,
    /// File with the client's certificate chain, PEM.
    pub cert: Option<String>,
    /// File with the client's key, PEM. Default: the file of `cert`.
    pub key: Option<String>,
    /// Allowed versions, `1.2` and `1.3`. Default both.
    pub versions: Option<Vec<String>>,
    /// Allowed cipher suites by IANA name, best first. Default: the library's order.
    pub ciphers: Option<Vec<String>>,
    /// Allowed key-exchange groups, best first: `x25519`, `secp256r1`, `secp384r1`. Default: the library's order.
    pub groups: Option<Vec<String>>,
    /// Protocols offered by ALPN; an empty list offers none. Default `http/1.1`.
    pub alpn: Option<Vec<String>>,
    /// Whether sessions are resumed. Default true.
    pub resumption: Option<bool>,
    /// Name sent in SNI and checked against the certificate. Default: the host of the URL.
    pub sni: Option<String>,
}

/// TLS of every connection.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TlsPlan {
    /// Name sent in SNI and checked against the certificate.
    pub server_name: String,
    /// Whether the certificate is checked; false is `--insecure`.
    pub verify: bool,
    /// File with the trusted certificates, PEM; the system's where absent.
    pub ca_file: Option<String>,
    /// File with the client's certificate chain, PEM.
    pub cert_file: Option<String>,
    /// File with the client's key, PEM.
    pub key_file: Option<String>,
    /// Allowed versions, `1.2` and `1.3`.
    pub versions: Vec<String>,
    /// Allowed cipher suites by IANA name in order of preference; the library's default where empty.
    pub ciphers: Vec<String>,
    /// Allowed key-exchange groups in order of preference; the library's default where empty.
    pub groups: Vec<String>,
    /// Protocols offered by ALPN.
    pub alpn: Vec<String>,
    /// Whether sessions are resumed by tickets.
    pub resumption: bool,
}
