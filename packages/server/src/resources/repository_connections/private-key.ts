// The private key of a GitHub App, as GitHub gives it out: RSA, in PEM.
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { validationFailed } from '../../lib/errors.ts'

const fewestBits = 2048

/** Nothing of the key is ever said, in whatever way it is wrong. */
export function readPrivateKey(given: string): { pem: string; fingerprint: string } {
  // Those who had to put it on one line have written its ends of lines as two characters.
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
