// Sessions by the value of their cookie and a proof. There is no way to find one by the cookie alone, because browsers send it to
// every port of the host, so programs beside the server may have it.
import { timingSafeEqual } from 'node:crypto'
import { hashToken } from '../lib/ids.ts'
import type { FoundSession, FoundToken } from './find-tokens.ts'
import type { Keyring } from './keyring.ts'
import { isTicket, issueTicket } from './tickets.ts'
import type { TokenCache } from './token-cache.ts'

/** What a page of this origin sends beside the cookie. */
export type Proof =
  | { secret: string }
  /** For a request that a script cannot give a header: issued for the session, and for GET of this path with its query. */
  | { ticket: string; path: string }

export interface ProvenSessions extends Pick<TokenCache, 'clear' | 'onLookup' | 'trustUntil'> {
  find(cookie: string, proof: Proof, organizationSlug: string | null): Promise<FoundToken | null>
  /** To be called for a request that has proven the session by its secret. */
  issueTicket(cookie: string, path: string): string
}

/** A browser follows the address at once. */
const ticketSeconds = 60

interface Signing {
  keys: Keyring
  now: () => Date
}

export function provenSessions(cache: TokenCache<FoundSession>, signing: Signing): ProvenSessions {
  const isProof = (cookie: string, proof: Proof, { page_secret_hash: hash }: FoundSession): boolean =>
    'secret' in proof
      ? hash !== null && timingSafeEqual(hash, hashToken(proof.secret))
      : isTicket(signing, 'page', ticketFor(cookie, proof.path), proof.ticket)
  return {
    async find(cookie, proof, slug) {
      const found = await cache.find(cookie, slug)
      return found !== null && isProof(cookie, proof, found) ? found : null
    },
    issueTicket: (cookie, path) => issueTicket(signing, 'page', ticketFor(cookie, path), ticketSeconds),
    onLookup: (listener) => cache.onLookup(listener),
    trustUntil: (monotonicMs) => cache.trustUntil(monotonicMs),
    clear: () => cache.clear(),
  }
}

const ticketFor = (cookie: string, path: string): string => `GET ${path} ${cookie}`
