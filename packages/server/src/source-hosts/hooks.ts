// The webhooks of a repository, as the API of its host shows and changes them.
import { Type, type Static, type TSchema } from 'typebox'
import { checker } from '../lib/check.ts'
import { Short } from './fields.ts'

/** Reads the answers of a host. Null: it answered with something else. */
export interface HookReader {
  readList(body: unknown): Hook[] | null
  readOne(body: unknown): Hook | null
}

export interface Hook {
  id: string
  url: string
  isActive: boolean
  /** `*`: all. */
  events: readonly string[]
}

/** Whether the host has the webhook of a pipeline. */
export interface HookState {
  /** Null: the host was not asked, or did not say. */
  registered: boolean | null
  /** Why not, or what is wrong with it. */
  reason: string | null
  /** Those that it sends; null: it is not registered. */
  events: string[] | null
  /** Null: the host was not asked. */
  checkedAt: string | null
  canTest: boolean
}

export function hookReader<S extends TSchema>(
  schema: S,
  /** Where the answer has the list; null: it is the list. */
  key: string | null,
  present: (found: Static<S>) => Hook,
): HookReader {
  const check = checker(schema)
  const readOne = (body: unknown) => {
    const found = check(body)
    return found.ok ? present(found.value) : null
  }
  return {
    readOne,
    readList(body) {
      const list: unknown = key === null ? body : Reflect.get(Object(body), key)
      // A webhook of another kind, such as one without an address, is none of ours.
      return Array.isArray(list) ? list.flatMap((one) => readOne(one) ?? []) : null
    },
  }
}

/** As GitHub, Gitea and Forgejo answer it. */
const ConfiguredHook = Type.Object({
  id: Type.Integer(),
  active: Type.Boolean(),
  events: Type.Array(Short),
  config: Type.Object({ url: Short }),
})

export const configuredHooks = hookReader(ConfiguredHook, null, ({ id, active, events, config }) => ({
  id: String(id),
  url: config.url,
  isActive: active,
  events,
}))

/** The events that builds need and the webhook does not send. */
export const missingEvents = (wanted: readonly string[], { events }: Hook): string[] =>
  events.includes('*') ? [] : wanted.filter((event) => !events.includes(event))

const onGithub =
  'Settings → Webhooks → Add webhook of the repository. Payload URL: the address. Content type: application/json. Events: pushes, branch or tag deletion, and pull requests.'
const onGitlab =
  'Settings → Webhooks → Add new webhook of the project. URL: the address. Triggers: push, tag push and merge request events.'
const onGitea =
  'Settings → Webhooks → Add webhook → Gitea (or Forgejo) of the repository. Target URL: the address. Content type: application/json. Events: push, delete and all pull request events.'

const instructions: Readonly<Record<string, string>> = {
  github: onGithub,
  github_enterprise: onGithub,
  gitlab: onGitlab,
  gitlab_ee: onGitlab,
  bitbucket:
    'Repository settings → Webhooks → Add webhook. URL: the address. Triggers: repository push, and pull request created, updated, approved, merged and declined.',
  bitbucket_server:
    'Repository settings → Webhooks → Create webhook. URL: the address. Events: push, and pull request opened, source branch updated, modified, merged, declined and deleted.',
  azure_devops:
    'Project settings → Service hooks → Create subscription → Web Hooks, once each for code pushed, pull request created and pull request updated. URL: the address. The password of basic authentication: the secret.',
  gitea: onGitea,
  forgejo: onGitea,
  gogs: 'Settings → Webhooks → Add webhook → Gogs of the repository. Payload URL: the address. Content type: application/json. Events: push, create and delete.',
}

/** How a person adds the address of a webhook at the host of this provider. */
export const instructionsFor = (provider: string): string =>
  instructions[provider] ??
  'Add the address to the repository as a webhook that sends JSON, or call it from a post-receive hook.'
