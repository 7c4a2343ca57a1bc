//! TLS options of `prony load`, as the user types them.

use clap::builder::NonEmptyStringValueParser;
use schema::tls::TlsUse;

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "TLS (https://)")]
pub(crate) struct TlsArgs {
    /// Accept any certificate
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
    /// Trusted certificates, PEM [default: the system's]
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<String>,
    /// The client's certificate chain, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<String>,
    /// The client's key, PEM [default: the --cert file]
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<String>,
    /// Allowed versions, for example 1.3 [default: 1.2,1.3]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tls_versions: Option<Vec<String>>,
    /// Allowed cipher suites by IANA name, best first
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tls_ciphers: Option<Vec<String>>,
    /// Allowed key-exchange groups, best first: x25519, secp256r1, secp384r1
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tls_groups: Option<Vec<String>>,
    /// Protocols offered by ALPN [default: http/1.1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) alpn: Option<Vec<String>>,
    /// Make every handshake in full
    #[arg(long)]
    pub(crate) no_resumption: bool,
    /// Name sent in SNI and checked against the certificate [default: the host]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) sni: Option<String>,
}

impl TlsArgs {
    /// In the words of experiment files.
    pub(crate) fn wanted(&self) -> TlsUse {
        TlsUse {
            insecure: self.insecure,
            ca: self.cacert.clone(),
            cert: self.cert.clone(),
            key: self.key.clone(),
            versions: self.tls_versions.clone(),
            ciphers: self.tls_ciphers.clone(),
            groups: self.tls_groups.clone(),
            alpn: self.alpn.clone(),
            resumption: self.no_resumption.then_some(false),
            sni: self.sni.clone(),
        }
    }
}
