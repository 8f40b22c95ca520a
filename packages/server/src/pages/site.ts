// The files of the web interface, as its build left them: a shell, and assets whose names contain a hash of their content. They
// are read once, and no part of a URL becomes a path: a library for static files would ask the disk for each request.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { acceptedEncoding, encodings } from '../http/compress.ts'
import { siteFolder } from '../lib/package-files.ts'

type Encoding = 'br' | 'gzip' | 'identity'

interface Asset {
  type: string
  bytes: Readonly<Partial<Record<Encoding, Buffer>>> & { identity: Buffer }
}

export interface Site {
  shell: Buffer
  assets: ReadonlyMap<string, Asset>
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** null: the web interface was not built, because the bundler needs a newer Node than the server. */
export function readSite(): Site | null {
  const folder = siteFolder()
  if (folder === null) return null
  const names = readdirSync(join(folder, 'assets'))
  const read = (name: string) => readFileSync(join(folder, 'assets', name))
  const assets = names.flatMap((name): Array<[string, Asset]> => {
    const type = types[name.split('.').at(-1) ?? '']
    if (type === undefined) return []
    const br = names.includes(`${name}.br`) ? { br: read(`${name}.br`) } : {}
    const gzip = names.includes(`${name}.gz`) ? { gzip: read(`${name}.gz`) } : {}
    return [[name, { type, bytes: { ...br, ...gzip, identity: read(name) } }]]
  })
  return { shell: readFileSync(join(folder, 'index.html')), assets: new Map(assets) }
}

export function chooseEncoding({ bytes }: Asset, accepted: string | undefined): Encoding {
  const offered = encodings.filter((encoding) => bytes[encoding] !== undefined)
  return acceptedEncoding(accepted, offered) ?? 'identity'
}

/** Nothing is inline, so the policy needs no nonces. */
export const shellHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types millrace',
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
}
