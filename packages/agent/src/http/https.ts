// Requests over HTTPS. Node's modules for it are loaded with the first one: local agents reach their server without it, and each
// of their jobs starts a process.

import { readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import type * as nodeHttps from 'node:https'
import { createRequire } from 'node:module'
import type * as nodeTls from 'node:tls'

interface Https {
  request(url: URL, options: nodeHttps.RequestOptions): ClientRequest
  connections: nodeHttps.Agent
  /** For one request on a connection of its own. */
  openAgent(): nodeHttps.Agent
}

const requireModule = createRequire(import.meta.url)

let https: Https | null = null
let certificatesFile: string | undefined

/** From the next request on, trusts the certificates of this file beside those of Node. */
export function trustAlso(file: string | undefined): void {
  certificatesFile = file
  https = null
}

/** Has none before the first request. */
export const httpsConnections = (): nodeHttps.Agent[] => (https === null ? [] : [https.connections])

/** `agent: false` asks for a new connection. */
export function openHttpsRequest(url: URL, options: nodeHttps.RequestOptions): ClientRequest {
  const { request, connections, openAgent } = (https ??= load())
  return request(url, { ...options, agent: options.agent === false ? openAgent() : connections })
}

function load(): Https {
  const { Agent, request } = requireModule('node:https') as typeof nodeHttps
  const trust = certificatesFile === undefined ? {} : trustOf(certificatesFile)
  return {
    request,
    connections: new Agent({ keepAlive: true, ...trust }),
    openAgent: () => new Agent(trust),
  }
}

/** Node, too, goes on without a file that it cannot read. */
function trustOf(file: string): { secureContext?: nodeTls.SecureContext } {
  const { createSecureContext, rootCertificates } = requireModule('node:tls') as typeof nodeTls
  try {
    return { secureContext: createSecureContext({ ca: [...rootCertificates, readFileSync(file, 'utf8')] }) }
  } catch {
    return {}
  }
}
