//! The CPU, the kernel, and the environment: bare metal, a virtual machine, a container.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tree::Tree;

/// A kernel's version: `6.1.0-18-amd64` is 6.1 with its full text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct KernelVersion {
    major: u32,
    minor: u32,
    text: String,
}

impl KernelVersion {
    /// Whether it is at least `major.minor`.
    pub(crate) fn at_least(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl From<String> for KernelVersion {
    fn from(text: String) -> KernelVersion {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
        let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        KernelVersion { major, minor, text }
    }
}

impl From<KernelVersion> for String {
    fn from(version: KernelVersion) -> String {
        version.text
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

pub(super) struct Identity {
    pub(super) cpu_model: String,
    pub(super) architecture: String,
    pub(super) kernel: Option<KernelVersion>,
    pub(super) virtualised: Option<String>,
    pub(super) container: Option<String>,
    pub(super) clocksource: Option<String>,
}

pub(super) fn read(tree: &Tree) -> Identity {
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    Identity {
        cpu_model: cpu_model(tree, &cpuinfo),
        architecture: architecture(tree, &cpuinfo).to_owned(),
        kernel: kernel(tree),
        virtualised: virtualised(tree, &cpuinfo),
        container: container(tree),
        clocksource: tree.some_text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }
}

/// The value behind the first of `keys` in `/proc/cpuinfo`.
pub(crate) fn cpuinfo_value<'a>(cpuinfo: &'a str, keys: &[&str]) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        keys.contains(&key.trim()).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

fn cpu_model(tree: &Tree, cpuinfo: &str) -> String {
    if let Some(name) = cpuinfo_value(cpuinfo, &["model name", "cpu model", "cpu"]) {
        return name.to_owned();
    }
    // Arm has no model name there: the implementer and part numbers identify the core.
    let implementer = cpuinfo_value(cpuinfo, &["CPU implementer"]);
    let part = cpuinfo_value(cpuinfo, &["CPU part"]);
    match (implementer, part) {
        (Some(implementer), Some(part)) => match arm_core(implementer, part) {
            Some(name) => name.to_owned(),
            None => format!("Arm implementer {implementer} part {part}"),
        },
        _ => tree
            .some_text("sys/firmware/devicetree/base/model")
            .map_or_else(|| "unknown".to_owned(), |model| model.trim_end_matches('\0').to_owned()),
    }
}

fn arm_core(implementer: &str, part: &str) -> Option<&'static str> {
    Some(match (implementer, part) {
        ("0x41", "0xd03") => "Arm Cortex-A53",
        ("0x41", "0xd08") => "Arm Cortex-A72",
        ("0x41", "0xd0b") => "Arm Cortex-A76",
        ("0x41", "0xd0c") => "Arm Neoverse N1",
        ("0x41", "0xd40") => "Arm Neoverse V1",
        ("0x41", "0xd49") => "Arm Neoverse N2",
        ("0x41", "0xd4f") => "Arm Neoverse V2",
        ("0xc0", "0xac3") => "Ampere-1",
        _ => return None,
    })
}

fn architecture(tree: &Tree, cpuinfo: &str) -> &'static str {
    if cpuinfo_value(cpuinfo, &["vendor_id"]).is_some() {
        return "x86_64";
    }
    if cpuinfo_value(cpuinfo, &["CPU implementer", "CPU architecture"]).is_some() {
        return "aarch64";
    }
    if tree.is_live() { std::env::consts::ARCH } else { "unknown" }
}

fn kernel(tree: &Tree) -> Option<KernelVersion> {
    if let Some(release) = tree.some_text("proc/sys/kernel/osrelease") {
        return Some(release.into());
    }
    // `Linux version 6.1.0-18-amd64 (…`
    let version = tree.text("proc/version").ok()?;
    version.split_whitespace().nth(2).map(|release| release.to_owned().into())
}

fn virtualised(tree: &Tree, cpuinfo: &str) -> Option<String> {
    if let Some(kind) = tree.some_text("sys/hypervisor/type") {
        return Some(kind);
    }
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = tree.text(clocks).unwrap_or_default();
    let vendor = tree.text("sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = tree.text("sys/class/dmi/id/product_name").unwrap_or_default();
    let device_tree = tree.text("sys/firmware/devicetree/base/hypervisor/compatible").unwrap_or_default();
    let has_flag =
        cpuinfo_value(cpuinfo, &["flags"]).is_some_and(|f| f.split(' ').any(|flag| flag == "hypervisor"));
    let signs = [
        (clocks.contains("kvm-clock") || device_tree.contains("kvm"), "kvm"),
        (clocks.contains("hyperv") || vendor.contains("Microsoft") && product.contains("Virtual"), "hyperv"),
        (clocks.contains("xen") || vendor.contains("Xen") || device_tree.contains("xen"), "xen"),
        (vendor.contains("VMware"), "vmware"),
        (vendor.contains("QEMU") || product.contains("KVM"), "kvm"),
        (product.contains("VirtualBox"), "virtualbox"),
        (vendor.contains("Amazon EC2") && !product.contains("metal"), "kvm"),
        (product.contains("Google Compute Engine"), "kvm"),
        (has_flag, "vm"),
    ];
    signs.into_iter().find(|(holds, _)| *holds).map(|(_, name)| name.to_owned())
}

fn container(tree: &Tree) -> Option<String> {
    if let Some(name) = tree.some_text("run/systemd/container") {
        return Some(name);
    }
    if tree.exists(".dockerenv") {
        return Some("docker".to_owned());
    }
    if tree.exists("run/.containerenv") {
        return Some("podman".to_owned());
    }
    let groups = tree.text("proc/self/cgroup").unwrap_or_default();
    let signs = [("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman"), ("lxc", "lxc")];
    signs.into_iter().find(|(sign, _)| groups.contains(sign)).map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::KernelVersion;

    #[test]
    fn versions_compare_by_number() {
        let version = KernelVersion::from("6.10.3-arch1-1".to_owned());
        assert!(version.at_least(6, 9) && version.at_least(5, 15) && !version.at_least(6, 11));
        assert_eq!(serde_json::to_string(&version).unwrap(), "\"6.10.3-arch1-1\"");
        assert!(!KernelVersion::from("strange".to_owned()).at_least(1, 0));
    }
}
