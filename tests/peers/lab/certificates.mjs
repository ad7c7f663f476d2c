// Makes a throw-away certificate authority and one server certificate with node's own crypto.
// The authority's key is never written anywhere and is gone when this function returns.

import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/**
 * A certificate for the names of `hosts`, and the authority that vouches for it.
 * Good from an hour ago for two days; ECDSA P-256 with SHA-256; X.509 v3 (RFC 5280).
 */
export function makeCertificates(...hosts) {
  const authorityKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const serverKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authorityName = name("bursar peers test authority");
  const authorityId = keyId(authorityKeys.publicKey);

  const authority = certificate({
    subject: authorityName,
    publicKey: authorityKeys.publicKey,
    issuer: authorityName,
    issuerKey: authorityKeys.privateKey,
    extensions: [
      extension(OID.basicConstraints, true, sequence(TRUE)),
      extension(OID.keyUsage, true, bits(0b0000_0110, 1)), // keyCertSign, cRLSign
      extension(OID.subjectKeyId, false, octets(authorityId)),
    ],
  });
  const server = certificate({
    subject: name(hosts[0]),
    publicKey: serverKeys.publicKey,
    issuer: authorityName,
    issuerKey: authorityKeys.privateKey,
    extensions: [
      extension(OID.basicConstraints, true, sequence()),
      extension(OID.keyUsage, true, bits(0b1000_0000, 7)), // digitalSignature
      extension(OID.extendedKeyUsage, false, sequence(oid(OID.serverAuth))),
      extension(OID.subjectAltName, false, sequence(...hosts.map((host) => tagged(0x82, Buffer.from(host, "ascii"))))),
      extension(OID.subjectKeyId, false, octets(keyId(serverKeys.publicKey))),
      extension(OID.authorityKeyId, false, sequence(tagged(0x80, authorityId))),
    ],
  });
  return {
    authority: pem(authority),
    certificate: pem(server),
    key: serverKeys.privateKey.export({ type: "pkcs8", format: "pem" }),
  };
}

const OID = {
  commonName: "2.5.4.3",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  subjectAltName: "2.5.29.17",
  subjectKeyId: "2.5.29.14",
  authorityKeyId: "2.5.29.35",
  serverAuth: "1.3.6.1.5.5.7.3.1",
};

function certificate({ subject, publicKey, issuer, issuerKey, extensions }) {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const serial = randomBytes(16);
  serial[0] = (serial[0] & 0x3f) | 0x40; // positive, and never shorter than it looks
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))), // version 3
    tagged(0x02, serial),
    algorithm,
    issuer,
    sequence(time(-60 * 60), time(48 * 60 * 60)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  return sequence(body, algorithm, bits(sign("sha256", body, issuerKey), 0));
}

// DER, just enough of it.

const TRUE = Buffer.from([0x01, 0x01, 0xff]);

function tagged(tag, content) {
  const size = content.length;
  const length =
    size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts) {
  return tagged(0x30, Buffer.concat(parts));
}

function octets(content) {
  return tagged(0x04, content);
}

function bits(content, unused) {
  const bytes = typeof content === "number" ? Buffer.from([content]) : content;
  return tagged(0x03, Buffer.concat([Buffer.from([unused]), bytes]));
}

function oid(dotted) {
  const [first, second, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function name(common) {
  const text = tagged(0x0c, Buffer.from(common, "utf8"));
  return sequence(tagged(0x31, sequence(oid(OID.commonName), text)));
}

function time(secondsFromNow) {
  const stamp = new Date(Date.now() + secondsFromNow * 1000).toISOString().replace(/[-:T]/g, "");
  return tagged(0x17, Buffer.from(`${stamp.slice(2, 14)}Z`, "ascii"));
}

function extension(id, critical, value) {
  return sequence(oid(id), ...(critical ? [TRUE] : []), octets(value));
}

function keyId(publicKey) {
  return createHash("sha256").update(publicKey.export({ type: "spki", format: "der" })).digest().subarray(0, 20);
}

function pem(der) {
  const lines = der.toString("base64").match(/.{1,64}/g).join("\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
