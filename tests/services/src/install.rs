//! Installation of missing programs on Debian and derivatives: servers as root, validators into a
//! test folder.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// Installs a package unless its program exists.
pub fn ensure(program: &str, package: &str) {
    if !Path::new(program).exists() {
        install(package);
    }
}

fn install(package: &str) {
    let arguments = ["install", "--yes", "--no-install-recommends", package];
    apt_get(&arguments, Path::new("/"), &format!("install {package}, which takes root"));
}

/// Python in a temporary environment with this PyPI package and its dependencies.
pub fn python_with(package: &str, import: &str) -> PathBuf {
    let folder = juror_folder().join(import);
    fs::create_dir_all(&folder).expect("a folder for Python");
    let _alone = alone(&folder);
    let environment = folder.join("environment");
    let python = environment.join("bin/python");
    if !runs(Command::new(&python).args(["-c", &format!("import {import}")])) {
        if !runs(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
            install("python3-venv");
        }
        let mut venv = Command::new("python3");
        run(venv.args(["-m", "venv", "--clear"]).arg(&environment), "make a Python environment");
        let mut pip = Command::new(&python);
        run(pip.args(["-m", "pip", "install", "--quiet", package]), "install with pip");
    }
    python
}

/// Program folder of this PyPI package, as in `name[extra]==1.2.3`, in its own environment; an
/// error has the reason of a failed installation.
pub fn programs_from_pypi(package: &str) -> Result<PathBuf, String> {
    let folder = package_folder(package);
    let environment = folder.join("environment");
    install_once(&folder, || {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&environment);
        try_run(&mut venv, "make a Python environment")?;
        let mut pip = Command::new(environment.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "30", package]);
        try_run(&mut pip, &format!("install {package} with pip"))
    })?;
    Ok(environment.join("bin"))
}

/// Program folder of this npm package, as in `name@1.2.3`; an error has the reason of a failed
/// installation.
pub fn programs_from_npm(package: &str) -> Result<PathBuf, String> {
    let folder = package_folder(package);
    install_once(&folder, || {
        let mut npm = Command::new("npm");
        npm.args(["install", "--loglevel", "error", "--no-audit", "--no-fund", "--ignore-scripts"]);
        npm.args(["--fetch-retries", "1", "--fetch-retry-mintimeout", "1000", "--prefix"])
            .arg(&folder)
            .arg(package);
        try_run(&mut npm, &format!("install {package} with npm"))
    })?;
    Ok(folder.join("node_modules/.bin"))
}

fn package_folder(package: &str) -> PathBuf {
    let name: String =
        package.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    juror_folder().join(name)
}

/// Installs into a folder unless a complete installation exists.
fn install_once(folder: &Path, install: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let _alone = alone(folder);
    let stamp = folder.join("installed");
    if stamp.exists() {
        return Ok(());
    }
    install()?;
    fs::write(&stamp, "").map_err(|error| format!("{}: {error}", stamp.display()))
}

fn runs(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Folder with the unpacked files of a package. Nothing is installed or started, so this needs no
/// root and leaves the machine unchanged.
pub fn unpacked(package: &str, folder: &Path) -> PathBuf {
    let _alone = alone(folder);
    let files = folder.join(package);
    if !files.exists() {
        let fetched = tempfile::tempdir_in(folder).expect("a folder for a package");
        apt_get(&["download", package], fetched.path(), &format!("download {package}"));
        let mut entries = fs::read_dir(fetched.path()).expect("the folder of a package");
        let archive = entries.next().expect("a package").expect("its file").path();
        let half_done = fetched.path().join("files");
        run(Command::new("dpkg-deb").arg("-x").args([&archive, &half_done]), "unpack a package");
        fs::rename(half_done, &files).expect("the files of a package");
    }
    files
}

/// Program folder of these PyPI wheels; `requirements` is pip's file with a digest for each, which
/// pins the reviewed versions.
pub fn from_pypi(requirements: &Path, folder: &Path) -> PathBuf {
    let _alone = alone(folder);
    let wanted = fs::read_to_string(requirements).expect("the requirements");
    let (programs, stamp) = (folder.join("pypi"), folder.join("pypi.txt"));
    if fs::read_to_string(&stamp).ok().as_ref() != Some(&wanted) {
        // Leftovers of an earlier list.
        let _ = fs::remove_dir_all(&programs);
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target"]);
        run(pip.args([&programs, Path::new("--requirement"), requirements]), "install with pip");
        fs::write(stamp, wanted).expect("a note of what was installed");
    }
    programs.join("bin")
}

/// Folder that all tests of this machine share.
fn juror_folder() -> PathBuf {
    let folder = std::env::temp_dir().join("juror-tests");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// Tests that share a folder may run in separate processes; each installs while the others wait.
fn alone(folder: &Path) -> File {
    let lock = File::create(folder.join("fetching")).expect("a lock");
    lock.lock().expect("a lock");
    lock
}

/// Retries after an update if the package lists are outdated. Concurrent tests take turns, since
/// apt refuses parallel use.
fn apt_get(arguments: &[&str], folder: &Path, purpose: &str) {
    let apt_get = || {
        // An automatically started service would take the default port; the tests start their own.
        let mut command = Command::new("apt-get");
        command.envs([("DEBIAN_FRONTEND", "noninteractive"), ("RUNLEVEL", "1")]);
        command.current_dir(folder);
        // Another process of this machine may be installing too.
        command.args(["-o", "DPkg::Lock::Timeout=600"]);
        command
    };
    let _alone = alone(&juror_folder());
    let first = apt_get().args(arguments).output();
    if !first.is_ok_and(|output| output.status.success()) {
        run(apt_get().arg("update"), "apt-get update, which takes root");
        run(apt_get().args(arguments), purpose);
    }
}

fn run(command: &mut Command, purpose: &str) {
    if let Err(error) = try_run(command, purpose) {
        panic!("{error}");
    }
}

fn try_run(command: &mut Command, purpose: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot {purpose}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Err(format!("cannot {purpose}: {}", messages.trim()))
}
