# prony from its sources, for Nix: `nix-build packages`. The page and the lab are built by npm, which a build without a
# network cannot do: build them first (`make ui`), and they are taken in; without them reports are the plain page.
{ pkgs ? import <nixpkgs> { } }:

pkgs.rustPlatform.buildRustPackage {
  pname = "prony";
  version = (pkgs.lib.importTOML ../Cargo.toml).workspace.package.version;
  src = ./..;
  cargoLock.lockFile = ../Cargo.lock;
  cargoBuildFlags = [ "--package" "prony" ];
  # The tests load servers and need network namespaces: `make test` runs them.
  doCheck = false;

  meta = {
    description = "A dynamometer for network services";
    license = pkgs.lib.licenses.asl20;
    platforms = pkgs.lib.platforms.linux;
    mainProgram = "prony";
  };
}
