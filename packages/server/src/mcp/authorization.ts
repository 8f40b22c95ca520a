// Tells clients without a token where to get one: the metadata of a protected resource, as OAuth describes it.
import type { Endpoint } from '../http/endpoint.ts'

const path = '/.well-known/oauth-protected-resource'

/** Clients look for the metadata at both addresses. */
export const metadataEndpoints = (url: string, resource: string, scopes: readonly string[]): Endpoint[] =>
  [path, `${path}${resource}`].map((address) => ({
    methods: ['GET'],
    url: address,
    body: 'json',
    crossOrigin: true,
    handle: async () => ({
      resource: `${url}${resource}`,
      resource_name: 'Millrace',
      authorization_servers: [url],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    }),
  }))

export const challenge = (url: string, resource: string, scopes: readonly string[]): string =>
  `Bearer resource_metadata="${url}${path}${resource}", scope="${scopes.join(' ')}"`
