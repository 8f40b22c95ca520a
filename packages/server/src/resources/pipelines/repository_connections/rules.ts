import { validationFailed } from '../../../lib/errors.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import type { ConnectionType } from './schema.ts'

export const isApp = (type: ConnectionType): boolean => hostOfType(type).token?.credential === 'app'

interface HostAddress {
  url: string
  api_url: string
  host: string
}

export function readAddress(
  type: ConnectionType,
  given: {
    url: string | undefined
    api_url: string | null | undefined
    repository_host: string | null | undefined
  },
): HostAddress {
  const url = readUrl('url', given.url || hostOfType(type).publicUrl)
  const host = (given.repository_host || new URL(url).hostname).toLowerCase()
  if (isApp(type)) refuseWrongApp(type, host)
  return {
    url,
    api_url: given.api_url ? readUrl('api_url', given.api_url) : hostOfType(type).apiUrlOf(url),
    host,
  }
}

function refuseWrongApp(type: ConnectionType, host: string): void {
  const right = host === 'github.com' ? 'github_app' : 'github_enterprise_app'
  if (type !== right) throw validationFailed(`type must be ${right} for an App at ${host}`)
}

type GivenId = string | number | null

export const readAppId = (given: GivenId): string | null =>
  readId(
    'app_id',
    given,
    /^[A-Za-z0-9._-]+$/,
    'the App ID or the client ID that the settings of the App show',
  )

export const readInstallationId = (given: GivenId): string | null =>
  readId(
    'installation_id',
    given,
    /^[0-9]{1,20}$/,
    'the number at the end of the address of the installation’s settings',
  )

function readId(field: string, given: GivenId, pattern: RegExp, what: string): string | null {
  const text = String(given ?? '')
  if (text === '' || pattern.test(text)) return text || null
  throw validationFailed(`${field} must be ${what}`)
}

function readUrl(field: string, text: string | null): string {
  if (text === null) throw validationFailed(`${field} is required for a host of your own`)
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain =
    url !== null &&
    ['https:', 'http:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]/.test(text)
  if (!isPlain) throw validationFailed(`${field} must be an address such as https://git.example.com`)
  return text.replace(/\/+$/, '')
}
