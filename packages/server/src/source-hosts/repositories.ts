// What the lists of repositories of the hosts have in common.
import { Type, type Static, type TSchema } from 'typebox'
import { checker } from '../lib/check.ts'
import type { OutboundResponse } from '../lib/outbound.ts'
import { maybe, Short } from './fields.ts'
import type { HostRepository, RepositoryApi } from './host.ts'

/** People open it in their browser. */
export const WebUrl = Type.String({ maxLength: 2000, pattern: '^https?://' })

/** As GitHub, Gitea and Forgejo answer it. */
export const PlainRepository = Type.Object({
  full_name: Short,
  html_url: WebUrl,
  clone_url: Short,
  default_branch: maybe(Short),
})

export const presentPlain = (found: Static<typeof PlainRepository>): HostRepository => ({
  full_name: found.full_name,
  html_url: found.html_url,
  clone_url: found.clone_url,
  default_branch: found.default_branch || null,
})

/** `key`: where the answer has the list; null: it is the list. */
export function repositoryReader<S extends TSchema>(
  schema: S,
  key: string | null,
  /** Null: what is needed is missing. */
  present: (found: Static<S>) => HostRepository | null,
): Pick<RepositoryApi, 'readList' | 'readOne'> {
  const check = checker(schema)
  const readOne = (body: unknown) => {
    const found = check(body)
    return found.ok ? present(found.value) : null
  }
  return {
    readOne,
    readList(body) {
      const list: unknown = key === null ? body : Reflect.get(Object(body), key)
      if (!Array.isArray(list)) return null
      const found = list.map(readOne)
      return found.every((one) => one !== null) ? found : null
    },
  }
}

/** Hosts say it in the Link header, both kinds of Bitbucket in the body. */
export const hasNextPage = ({ headers }: OutboundResponse, body: unknown): boolean =>
  /rel="?next\b/.test(headers['link'] ?? '') ||
  typeof Reflect.get(Object(body), 'next') === 'string' ||
  Reflect.get(Object(body), 'isLastPage') === false

/** Leaves out what is null. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== null) given.set(name, String(value))
  return `${path}?${given.toString()}`
}

/** What cannot be the name of a repository is never part of an address. */
export function isFullName(text: string): boolean {
  const parts = text.split('/')
  return parts.length > 1 && parts.every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part))
}
