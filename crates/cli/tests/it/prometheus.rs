//! A real Prometheus of a test's own, which keeps native histograms and takes scraped labels as they are.

use crate::load::wait_until;
use crate::program::Program;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

/// It ends with the test.
pub(crate) struct Prometheus {
    program: Program,
    pub(crate) addr: SocketAddr,
}

impl Prometheus {
    /// Scrapes addresses at an interval, such as `1s`, once it is ready; its files are in a folder.
    pub(crate) fn start(folder: &Path, scraped: &[SocketAddr], interval: &str) -> Self {
        let config = folder.join("prometheus.yml");
        let targets: Vec<String> = scraped.iter().map(|addr| format!("'{addr}'")).collect();
        let text = format!(
            "global: {{ scrape_interval: {interval}, scrape_timeout: {interval} }}\nscrape_configs:\n- job_name: prony\n  \
             honor_labels: true\n  static_configs: [{{ targets: [{}] }}]\n",
            targets.join(", ")
        );
        std::fs::write(&config, text).unwrap();
        let program = Program::start(Stdio::null(), |addr| {
            let mut command = Command::new("prometheus");
            command
                .arg(format!("--config.file={}", config.display()))
                .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
                .arg(format!("--web.listen-address={addr}"))
                .arg("--web.enable-remote-write-receiver")
                .arg("--enable-feature=native-histograms");
            command
        });
        wait_until("Prometheus is ready", || program.get("/-/ready").contains(" 200 OK"));
        Self { addr: program.addr, program }
    }

    /// The values of an instant query.
    pub(crate) fn asked(&self, query: &str) -> Vec<f64> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let body = self.program.body(&format!("/api/v1/query?query={query}"));
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(answer["status"], "success", "{answer}");
        let rows = answer["data"]["result"].as_array().cloned().unwrap_or_default();
        rows.iter().filter_map(|row| row["value"][1].as_str()?.parse().ok()).collect()
    }
}
