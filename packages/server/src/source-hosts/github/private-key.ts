// The private key of a GitHub App, in the form in which GitHub issues it: RSA, in PEM.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { validationFailed } from '../../lib/errors.ts'

const fewestBits = 2048

/** No error message contains any part of the key. */
export function readPrivateKey(given: string): { pem: string; fingerprint: string } {
  // A key that was put on one line has `\n` instead of line ends.
  const pem = given.replaceAll('\\n', '\n').trim()
  const key = parse(pem)
  if (key.asymmetricKeyType !== 'rsa') throw wrong('is not an RSA key, which is what GitHub gives out')
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < fewestBits) throw wrong(`has ${bits} bits; ${fewestBits} are the fewest`)
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return { pem, fingerprint: `SHA256:${createHash('sha256').update(spki).digest('base64')}` }
}

function parse(pem: string): KeyObject {
  if (/-----BEGIN (?:RSA )?PUBLIC KEY|-----BEGIN CERTIFICATE/.test(pem)) {
    throw wrong(
      'is a public key or a certificate; the private key is the .pem file that GitHub lets you download',
    )
  }
  if (/-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(pem)) throw wrong('is encrypted; decrypt it first')
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    throw wrong('cannot be read: it must be the whole of the .pem file, with its first and last line')
  }
}

const wrong = (what: string) => validationFailed(`private_key ${what}`)
