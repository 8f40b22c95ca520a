// A source host keeps repositories. Each host has a folder, and hosts.ts lists them all.
import type { IncomingHttpHeaders } from 'node:http'
import type { OutboundClient, OutboundResponse } from '../lib/outbound.ts'
import type { CodeOwnersDialect } from './code-owners.ts'
import type { ExpiringCache } from '../lib/expiring-cache.ts'
import type { Fork, HostEvent, Pull } from './events.ts'
import type { HostComment } from './comments.ts'
import type { HookReader } from './hooks.ts'
import type { ReportedStatus } from './status.ts'

export interface SourceHost {
  name: string
  /** The address of the public installation; null: everybody runs their own. */
  publicUrl: string | null
  apiUrlOf(url: string): string
  /** The provider shown by pipelines whose repositories are at this host name. */
  providerOf(hostname: string): ProviderId
  webhook: Webhook
  /** Null: the host has no commit statuses. */
  status: StatusApi | null
  /** Null: failing lines are shown by checks, or nowhere. */
  comments: CommentApi | null
  /** Null: the host takes no tokens. */
  token: HostToken | null
  /** Null: the host has no API that lists repositories. */
  repositories: RepositoryApi | null
  /** Null: the host has no API for webhooks. */
  hooks: HookApi | null
  /** Null: the host has no API that lists pull requests with their commits. */
  pullRequests: PullRequestApi | null
  /** Null: the host knows no CODEOWNERS, or reads it in another way than GitHub and GitLab. */
  codeOwners: CodeOwnersApi | null
}

export type ProviderId =
  | 'github'
  | 'github_enterprise'
  | 'gitlab'
  | 'gitlab_ee'
  | 'bitbucket'
  | 'bitbucket_server'
  | 'azure_devops'
  | 'gogs'
  | 'gitea'
  | 'forgejo'
  | 'private'

export interface Webhook {
  /** Null: another host sent the request. */
  identify(headers: IncomingHttpHeaders, body: Buffer): { event: string; id: string | null } | null
  /** Compares in constant time. Signatures are over the bytes of the body as they arrived. */
  isGenuine(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean
  /** Throws 400 for a body that cannot be understood. */
  read(request: WebhookRequest): WebhookContent
  /** How an agent finds the commit of a pull request, which may be on no branch of the repository. */
  findPullRequest(number: string, pull: Pull, settings: MergeSettings): PullRequestCommit
  /** Whether `webhooks_disabled_at` of a pipeline applies to this host. */
  canBeDisabled: boolean
}

interface WebhookRequest {
  event: string
  text: string
  /** Throws 400 for a body that is not a JSON object. */
  json(): object
}

export interface WebhookContent {
  action: string | null
  /** Every address that the host has for the repository. */
  repositories: readonly string[]
  /** Some hosts send all refs of a push in one delivery. */
  events: readonly HostEvent[]
  /** The host says that a bot, not a person, caused the event. Absent: the host does not say. */
  isOfBot?: boolean
  /** Variables for every build of the delivery. */
  env: Readonly<Record<string, string>>
}

interface MergeSettings {
  build_pull_request_merge: boolean
  build_pull_request_merge_commits: boolean
}

interface PullRequestCommit {
  commit: string
  env: Readonly<Record<string, string>>
  /** Set where the host keeps the commit only in the fork. */
  fork?: Fork
}

export interface NewWebhook {
  /** `owner/name` */
  repository: string
  url: string
  secret: string | null
}

/** A request below the address of the host's API. */
export interface ApiRequest {
  /** Default POST. */
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  body?: object
  /** The permissions that a GitHub App's token needs for it. */
  permissions?: Permissions
}

/** As GitHub names them, such as `{contents: 'read'}`. */
export type Permissions = Readonly<Record<string, 'read' | 'write'>>

export interface StatusApi {
  requestFor(status: ReportedStatus): ApiRequest
  /** Why the host refused a status; null: it accepted. */
  refusalIn(context: string, response: OutboundResponse): string | null
  /** For hosts whose pull requests have statuses of their own, beside those of their commits. */
  ofPulls?: PullStatusApi
}

interface PullStatusApi {
  /** The pushes to a pull request, which hosts number. */
  iterationsRequest(place: CommentPlace): ApiRequest
  /** That which brought the commit; null: none did, or the answer is something else. */
  findIteration(answer: unknown, commit: string): number | null
  requestFor(status: ReportedStatus, place: CommentPlace, iteration: number): ApiRequest
}

/** Requests for the repositories that a token of the host sees. Paths are below the address of its API. */
export interface RepositoryApi {
  /** One page, sorted by name. Throws 422 for what the host cannot do. */
  listPath(wanted: WantedRepositories): string
  /** One repository by its full name. */
  findPath(fullName: string): string
  /** Null: the host answered with something else. */
  readList(body: unknown): HostRepository[] | null
  readOne(body: unknown): HostRepository | null
}

export interface WantedRepositories {
  page: number
  perPage: number
  /** A part of the name; null: all repositories. */
  search: string | null
  /** Null: all that the token sees. */
  workspace: string | null
}

export interface HostRepository {
  /** `owner/name` */
  full_name: string
  html_url: string
  clone_url: string
  /** Null: the repository is empty. */
  default_branch: string | null
}

export interface ListedPull {
  number: string
  pull: Pull
}

export interface CodeOwnersApi {
  dialect: CodeOwnersDialect
  /** Where the host looks for the file, in its order. */
  paths: readonly string[]
  /** The file at a commit, as it is. Besides those of the token it needs these headers. */
  fileRequest(repository: string, path: string, commit: string): ApiRequest
  headers: Readonly<Record<string, string>>
}

export interface PullRequestApi {
  /** The open ones of a repository; pages begin with 1. */
  listRequest(repository: string, page: number): ApiRequest
  /** Null: the host answered with something else. */
  readList(answer: unknown): ListedPull[] | null
}

/** Where a comment or a status is, or is to be. */
export interface CommentPlace {
  /** `owner/name` */
  repository: string
  /** The number of the pull request. */
  pullRequest: string
}

export interface CommentApi {
  creationRequest(place: CommentPlace, text: string): ApiRequest
  updateRequest(place: CommentPlace, id: string, text: string): ApiRequest
  /** From the newest, or only those since a time; pages begin with 1. Null: there is no such page. */
  listRequest(place: CommentPlace, which: { since: string; page: number }): ApiRequest | null
  /** The answers to these requests. Null: the answer is something else. */
  readComment(answer: unknown): HostComment | null
  readList(answer: unknown): HostComment[] | null
}

/** Requests for the webhooks of a repository. */
export interface HookApi extends HookReader {
  /** What builds need, in the host's words. */
  events: readonly string[]
  /** What the token must be allowed, as the end of a sentence. */
  needs: string
  /** Pages begin with 1, and have up to so many webhooks. */
  perPage: number
  listRequest(repository: string, page: number): ApiRequest
  createRequest(hook: NewWebhook): ApiRequest
  updateRequest(id: string, hook: NewWebhook): ApiRequest
  deleteRequest(repository: string, id: string): ApiRequest
  /** Has the host send a delivery. Null: its API cannot. */
  testRequest: ((repository: string, id: string) => ApiRequest) | null
}

export interface HostToken {
  /** The credential of a connection: a token, or the private key of an App that creates tokens. */
  credential: 'token' | 'app'
  /** The user name that git sends with a token as its password. */
  gitUsername: string
  apiHeaders(token: string): Record<string, string>
  /**
   * Null: the connection has no token. Throws TokenRefused when the host does not issue one. `repository` null: a token for
   * all that the connection sees.
   */
  find(
    tools: TokenTools,
    connection: Credentials,
    repository: string | null,
    permissions: Permissions,
  ): Promise<string | null>
  /** For a token that the host refused: the next `find` gets another one if it can. */
  evict(tools: TokenTools, connection: Credentials, repository: string | null, permissions: Permissions): void
}

/** The parts of a Context that getting a token needs. */
export interface TokenTools {
  now: () => Date
  keys: { open(sealed: Buffer, keyId: string): string }
  outbound: Pick<OutboundClient, 'send'>
  appTokens: ExpiringCache<string>
}

/** The columns of a repository connection that hold its credentials. */
export interface Credentials {
  id: string
  api_url: string
  token_sealed: Buffer | null
  token_key_id: string | null
  app_id: string | null
  installation_id: string | null
  private_key_sealed: Buffer | null
  private_key_id: string | null
  private_key_hint: string | null
}

/** `isPassing`: a later request may succeed without anybody changing a setting. */
export class TokenRefused extends Error {
  readonly isPassing: boolean
  readonly waitSeconds: number

  constructor(message: string, { isPassing = false, waitSeconds = 0 } = {}) {
    super(message)
    this.isPassing = isPassing
    this.waitSeconds = waitSeconds
  }
}
