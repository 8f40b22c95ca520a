import { sign, type KeyObject } from 'node:crypto'

/** `keyId` tells the receiver which of several keys verifies the signature. */
export function signJwt(claims: object, privateKey: KeyObject, keyId?: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) }
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}
