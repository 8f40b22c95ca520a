// Encrypts secrets at rest with AES-256-GCM. Each sealed value names its key, so that a new key can be added in front of
// the old ones and values of both can be read.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

export interface Keyring {
  seal(plain: string): { sealed: Buffer; keyId: string }
  open(sealed: Buffer, keyId: string): string
  /** A short code that only this installation can make, for cursors and links that must not be forged. */
  sign(purpose: string, message: string): Buffer
  verify(purpose: string, message: string, code: Buffer): boolean
}

interface Key {
  id: string
  sealing: Buffer
  signing: Buffer
}

/** `secrets` in the order given: the first seals and signs, every one opens and verifies. */
export function keyring(secrets: readonly string[]): Keyring {
  const keys = secrets.map(deriveKey)
  const [first] = keys
  if (first === undefined) throw new Error('A keyring needs at least one key.')
  const code = (key: Key, purpose: string, message: string) =>
    createHmac('sha256', key.signing).update(purpose).update('\0').update(message).digest().subarray(0, 16)

  return {
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', first.sealing, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return { sealed: Buffer.concat([nonce, cipher.getAuthTag(), body]), keyId: first.id }
    },
    open(sealed, keyId) {
      const key = keys.find(({ id }) => id === keyId)
      if (key === undefined) {
        throw new Error(`No key ${keyId} in MILLRACE_SECRET_KEY: add the key that sealed this value.`)
      }
      const decipher = createDecipheriv('aes-256-gcm', key.sealing, sealed.subarray(0, 12))
      decipher.setAuthTag(sealed.subarray(12, 28))
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
    },
    sign: (purpose, message) => code(first, purpose, message),
    verify: (purpose, message, given) =>
      keys.some((key) => {
        const expected = code(key, purpose, message)
        return given.length === expected.length && timingSafeEqual(given, expected)
      }),
  }
}

/** Identifies a key without revealing anything about it. */
export const keyId = (secret: string): string => deriveKey(secret).id

function deriveKey(secret: string): Key {
  const derive = (use: string) => createHmac('sha256', secret).update(`millrace ${use}`).digest()
  return {
    id: createHash('sha256').update(derive('key id')).digest('hex').slice(0, 12),
    sealing: derive('sealing'),
    signing: derive('signing'),
  }
}
