// The certificates of the backend: an authority of its own, created at each
// start, and a server certificate that it signs for 127.0.0.1, localhost and its own address.
//
// The private keys never leave the process: only the authority's certificate is
// written, for clients to check the server against. Deliberately absent: client
// certificates, revocation, and any authority that outlives the process.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	// Longer than any soak test; the keys end with the process anyhow.
	validFor = 365 * 24 * time.Hour
	// A client in another machine's clock must not find it too young.
	validBefore = time.Hour
)

// identity is what the server shows and what its clients check it against.
type identity struct {
	server tls.Certificate
	caPEM  []byte
}

// newIdentity makes an authority and a server certificate that begin at now, for
// loopback and for the host of address, where that is an address of IP.
func newIdentity(now time.Time, address string) (identity, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("making the authority's key: %w", err)
	}
	ca := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "prony grpc backend authority"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	caDER, err := sign(ca, ca, &caKey.PublicKey, caKey, now)
	if err != nil {
		return identity{}, fmt.Errorf("signing the authority's certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("making the server's key: %w", err)
	}
	leaf := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if host, _, err := net.SplitHostPort(address); err == nil {
		if own := net.ParseIP(host); own != nil && !own.IsUnspecified() {
			leaf.IPAddresses = append(leaf.IPAddresses, own)
		}
	}
	leafDER, err := sign(leaf, ca, &key.PublicKey, caKey, now)
	if err != nil {
		return identity{}, fmt.Errorf("signing the server's certificate: %w", err)
	}
	return identity{
		server: tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key},
		caPEM:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
	}, nil
}

// sign fills in the serial number and the times of certificate and signs it.
func sign(certificate, parent *x509.Certificate, key *ecdsa.PublicKey, by *ecdsa.PrivateKey, now time.Time) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	certificate.SerialNumber = serial
	certificate.NotBefore = now.Add(-validBefore)
	certificate.NotAfter = now.Add(validFor)
	return x509.CreateCertificate(rand.Reader, certificate, parent, key, by)
}

// writeCA puts the authority's certificate at path, whole or not at all: a
// client that reads while the backend starts must not see half of it.
func writeCA(path string, caPEM []byte) error {
	if err := replaceFile(path, caPEM); err != nil {
		return fmt.Errorf("cannot write the authority's certificate: set GRPC_CA_FILE to a file in a folder that can be written (%w)", err)
	}
	return nil
}

func replaceFile(path string, content []byte) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	draft, err := os.CreateTemp(folder, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	// Gone already after the rename; then this fails and means nothing.
	defer os.Remove(draft.Name())
	_, err = draft.Write(content)
	if err == nil {
		// A target may run as another user; a certificate is no secret.
		err = draft.Chmod(0o644)
	}
	if closed := draft.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}
