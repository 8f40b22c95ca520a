import { sign, type KeyObject } from 'node:crypto'

/** `keyId` names the key that verifies the signature, where there are several. */
export function signJwt(claims: object, privateKey: KeyObject, keyId?: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) }
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}
