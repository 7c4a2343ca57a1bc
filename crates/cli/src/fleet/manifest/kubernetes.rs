//! Agents in Kubernetes, as one `List` in JSON, and the fleet file of a controller in the same namespace.
//!
//! Each agent is a StatefulSet of one pod: its name is stable, and its pod alone has its keys. Pods of one set share a
//! template, so each would have the keys of all.
//!
//! Invariants: no token of a service account, no root, no capability, no writable root; requests are limits, so that the
//! CPUs are whole and the pod is the last to be evicted; only pods with the controller's label reach agents, and agents
//! reach only the target and, where it has a name, the cluster's DNS. Absent on purpose: probes. One of TCP would be a
//! stranger at the agent's door every few seconds; whether agents answer is asked by `prony fleet list`.

use super::super::text;
use super::{Agent, Document};
use crate::args::ManifestArgs;
use anyhow::{Context as _, Result, bail};
use fleet::{AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE, check_name};
use schema::fleet::{AgentEntry, FleetFile};
use serde_json::{Map, Value, json};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

const FILE: &str = "prony-agents.json";
const FLEET_FILE: &str = "fleet.toml";
/// The Service that gives pods their names.
const SERVICE: &str = "prony-agents";
/// What a controller has: its keys and its fleet file, in one folder once mounted.
const CONTROLLER: &str = "prony-controller";
const KEYS_AT: &str = "/etc/prony/keys";
/// The user of prony's image.
const USER: u32 = 65532;
/// Pods carry the name of their set and a hash as a label of at most 63 characters.
const NAME_MAX: usize = 46;
/// Most that the files of a load may take.
const SCRATCH: &str = "8Gi";
/// Characters of a value or a name within a label.
const LABEL_MAX: usize = 63;

pub(super) fn documents(args: &ManifestArgs, agents: &[Agent]) -> Result<Vec<Document>> {
    let image = args.image.as_deref().unwrap_or_default();
    check_image(image)?;
    check_namespace("--namespace", &args.namespace)?;
    if let Some(name) = &args.target_namespace {
        check_namespace("--target-namespace", name)?;
    }
    if let Some(long) = agents.iter().find(|agent| agent.name.len() > NAME_MAX) {
        bail!(
            "agent {} has too long a name for Kubernetes\n  remedy: make keys with names of up to {NAME_MAX} characters",
            long.name
        );
    }
    let mut items = vec![controller(args, agents)?, service(args, agents)];
    for agent in agents {
        items.push(secret(
            args,
            &agent_object(agent),
            &args.keys.join("agents").join(&agent.name),
            "agent",
            None,
        )?);
        items.push(stateful_set(args, agent, image));
    }
    items.push(policy(args, agents)?);
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    let keys = std::path::absolute(args.keys.join("controller")).context("cannot find the folder of keys")?;
    let fleet = fleet_file(args, agents, &keys.display().to_string());
    Ok(vec![(FILE, schema::json::pretty(&list)?), (FLEET_FILE, fleet)])
}

fn agent_object(agent: &Agent) -> String {
    format!("prony-{}", agent.name)
}

/// The fleet file, for a controller whose keys are in the folder `keys`.
fn fleet_file(args: &ManifestArgs, agents: &[Agent], keys: &str) -> String {
    let entry = |agent: &Agent| AgentEntry {
        name: Some(agent.name.clone()),
        tcp: Some(format!("{}-0.{SERVICE}.{}.svc:{}", agent_object(agent), args.namespace, agent.port)),
        tls: Some(keys.to_owned()),
        ..AgentEntry::default()
    };
    text(&FleetFile { agents: agents.iter().map(entry).collect() })
}

fn labels(component: &str) -> Value {
    json!({ "app.kubernetes.io/name": "prony", "app.kubernetes.io/component": component })
}

fn metadata(args: &ManifestArgs, name: &str, component: &str) -> Value {
    json!({ "name": name, "namespace": args.namespace, "labels": labels(component) })
}

/// A folder of keys as a Secret.
fn secret(
    args: &ManifestArgs,
    name: &str,
    folder: &Path,
    component: &str,
    fleet: Option<String>,
) -> Result<Value> {
    let mut data = Map::new();
    for file in [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE] {
        let path = folder.join(file);
        let read = fs::read_to_string(&path);
        let text = read.with_context(|| {
            format!("cannot read {}; give a folder that `prony fleet keys` made", path.display())
        })?;
        data.insert(file.to_owned(), text.into());
    }
    data.extend(fleet.map(|text| (FLEET_FILE.to_owned(), text.into())));
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(args, name, component),
        "type": "Opaque",
        "stringData": data,
    }))
}

fn controller(args: &ManifestArgs, agents: &[Agent]) -> Result<Value> {
    // The file lies beside the keys once the Secret is mounted.
    let fleet = fleet_file(args, agents, ".");
    secret(args, CONTROLLER, &args.keys.join("controller"), "controller", Some(fleet))
}

/// Without an address of its own: it makes names of pods.
fn service(args: &ManifestArgs, agents: &[Agent]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(args, SERVICE, "agent"),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": true,
            "selector": labels("agent"),
            "ports": ports(agents, |port| json!({ "name": format!("agent-{port}"), "port": port })),
        },
    })
}

/// One entry for each port that agents listen on.
fn ports(agents: &[Agent], entry: impl Fn(u16) -> Value) -> Vec<Value> {
    let ports: std::collections::BTreeSet<u16> = agents.iter().map(|agent| agent.port).collect();
    ports.into_iter().map(entry).collect()
}

fn stateful_set(args: &ManifestArgs, agent: &Agent, image: &str) -> Value {
    let name = agent_object(agent);
    let mut selector = labels("agent");
    selector["prony/agent"] = agent.name.as_str().into();
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(args, &name, "agent"),
        "spec": {
            "serviceName": SERVICE,
            "replicas": 1,
            "selector": { "matchLabels": selector },
            "template": { "metadata": { "labels": selector }, "spec": pod(args, agent, image) },
        },
    })
}

fn pod(args: &ManifestArgs, agent: &Agent, image: &str) -> Value {
    let mut words = vec!["agent".to_owned(), "--listen".to_owned(), format!("0.0.0.0:{}", agent.port)];
    words.extend(["--tls", KEYS_AT].map(str::to_owned));
    words.extend(args.allow.iter().flat_map(|host| ["--allow".to_owned(), host.clone()]));
    let resources = json!({ "cpu": args.cpus.to_string(), "memory": format!("{}Mi", args.memory_mib) });
    json!({
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "containers": [{
            "name": "agent",
            "image": image,
            "args": words,
            "ports": [{ "name": "agent", "containerPort": agent.port }],
            "resources": { "requests": resources, "limits": resources },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
            "volumeMounts": [
                { "name": "keys", "mountPath": KEYS_AT, "readOnly": true },
                { "name": "scratch", "mountPath": "/tmp" },
            ],
        }],
        "volumes": [
            // Owner and group, which is the user's: an agent refuses a key that others read.
            { "name": "keys", "secret": { "secretName": agent_object(agent), "defaultMode": 0o440 } },
            { "name": "scratch", "emptyDir": { "sizeLimit": SCRATCH } },
        ],
    })
}

/// Who reaches agents, and what they reach.
fn policy(args: &ManifestArgs, agents: &[Agent]) -> Result<Value> {
    let from = json!({ "podSelector": { "matchLabels": labels("controller") } });
    let ports = ports(agents, |port| json!({ "protocol": "TCP", "port": port }));
    Ok(json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(args, SERVICE, "agent"),
        "spec": {
            "podSelector": { "matchLabels": labels("agent") },
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{ "from": [from], "ports": ports }],
            "egress": egress(args)?,
        },
    }))
}

fn egress(args: &ManifestArgs) -> Result<Vec<Value>> {
    let pods = args.target_pods.as_deref().map(|label| pods(args, label)).transpose()?;
    let named = args.allow.iter().find(|entry| block(entry).is_none());
    if let (Some(name), None) = (named, &pods) {
        bail!(
            "--allow: a network policy cannot name the host {name}\n  remedy: give --target-pods LABEL=VALUE, or its network \
             in place of its name"
        );
    }
    let mut targets: Vec<Value> = args
        .allow
        .iter()
        .filter_map(|entry| block(entry))
        .map(|cidr| json!({ "ipBlock": { "cidr": cidr } }))
        .collect();
    targets.extend(pods);
    let mut egress = vec![json!({ "to": targets })];
    if named.is_some() {
        let ports = ["UDP", "TCP"].map(|protocol| json!({ "protocol": protocol, "port": 53 }));
        let dns = json!({
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": "kube-system" } },
            "podSelector": { "matchLabels": { "k8s-app": "kube-dns" } },
        });
        egress.push(json!({ "to": [dns], "ports": ports }));
    }
    Ok(egress)
}

/// An entry of the list as a network; none for a name.
fn block(entry: &str) -> Option<String> {
    if entry.contains('/') {
        return Some(entry.to_owned());
    }
    let address: IpAddr = entry.trim_matches(['[', ']']).parse().ok()?;
    Some(format!("{address}/{}", if address.is_ipv4() { 32 } else { 128 }))
}

fn pods(args: &ManifestArgs, label: &str) -> Result<Value> {
    let is_of_value = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_value = |text: &str| {
        let ends = [text.bytes().next(), text.bytes().last()];
        (1..=LABEL_MAX).contains(&text.len())
            && text.bytes().all(is_of_value)
            && ends.iter().flatten().all(u8::is_ascii_alphanumeric)
    };
    // A key may have the name of its owner before it.
    let is_key = |key: &str| key.split('/').count() <= 2 && key.split('/').all(is_value);
    let Some((key, value)) = label.split_once('=').filter(|(key, value)| is_key(key) && is_value(value))
    else {
        bail!("--target-pods: `{label}` is no label\n  remedy: write for example app=shop");
    };
    let namespace = args.target_namespace.as_deref().unwrap_or(&args.namespace);
    Ok(json!({
        "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
        "podSelector": { "matchLabels": { key: value } },
    }))
}

/// A reference with a tag or a digest: agents must be the controller's prony.
fn check_image(image: &str) -> Result<()> {
    let is_of_image = |byte: u8| byte.is_ascii_alphanumeric() || b"./_-:@".contains(&byte);
    let last = image.rsplit('/').next().unwrap_or_default();
    let version =
        last.split_once(['@', ':']).filter(|(name, version)| !name.is_empty() && !version.is_empty());
    let is_good = image.bytes().all(is_of_image)
        && image.starts_with(|first: char| first.is_ascii_alphanumeric())
        && version.is_some_and(|(_, version)| version != "latest");
    if is_good {
        return Ok(());
    }
    bail!(
        "--image: `{image}` is no image of one version\n  remedy: give it with a tag other than latest, or a digest, such as \
         registry.internal/prony:{}",
        env!("CARGO_PKG_VERSION")
    )
}

fn check_namespace(option: &str, name: &str) -> Result<()> {
    if check_name(name).is_ok() {
        return Ok(());
    }
    bail!(
        "{option}: `{name}` is no namespace\n  remedy: give up to 63 small letters, digits and `-`, first and last a letter or \
         digit"
    )
}

#[cfg(test)]
#[path = "kubernetes_tests.rs"]
mod tests;
