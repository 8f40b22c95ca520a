// Makes ed25519 keys in the form of OpenSSH. Older versions of ssh read them in no other form.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'

interface SshKey {
  /** A line for a list of authorized keys. */
  publicKey: string
  /** As `ssh-keygen -l` shows it. */
  fingerprint: string
  privateKey: string
}

const kind = 'ssh-ed25519'

export function makeSshKey(comment: string): SshKey {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [open, secret] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')]
  const shared = Buffer.concat([field(kind), field(open)])
  const check = randomBytes(4)
  const inner = Buffer.concat([check, check, shared, field(Buffer.concat([secret, open])), field(comment)])
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    // Neither cipher nor passphrase.
    field('none'),
    field('none'),
    field(''),
    number(1),
    field(shared),
    field(padded(inner)),
  ])
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? []
  return {
    publicKey: `${kind} ${shared.toString('base64')} ${comment}`,
    fingerprint: `SHA256:${createHash('sha256').update(shared).digest('base64').replace(/=+$/, '')}`,
    privateKey: [
      '-----BEGIN OPENSSH PRIVATE KEY-----',
      ...lines,
      '-----END OPENSSH PRIVATE KEY-----',
      '',
    ].join('\n'),
  }
}

function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return Buffer.concat([number(bytes.length), bytes])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** To whole blocks, with 1, 2, 3 and so on. */
function padded(bytes: Buffer): Buffer {
  const missing = (8 - (bytes.length % 8)) % 8
  return Buffer.concat([bytes, Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))])
}
