// One REST endpoint: its access rule, its input and its answers. `scope` and `permission` are required fields, so an
// endpoint without an access rule does not compile.
import type { IncomingHttpHeaders } from 'node:http'
import { Type, type Static, type TSchema } from 'typebox'
import type { Caller, Organization } from '../auth/caller.ts'
import type { Feature } from '../auth/features.ts'
import type { Permission } from '../auth/permissions.ts'
import type { Scope } from '../auth/scopes.ts'
import type { Context } from '../context.ts'
import type { Owner } from '../lib/holdings.ts'
import { badRequest, invalidFields, validationFailed } from '../lib/errors.ts'
import type { Answer } from './answer.ts'
import { checker } from '../lib/check.ts'
import { CursorQuery } from './cursors.ts'
import type { RequestUrl } from './links.ts'
import { LongPageQuery, PageQuery } from './paging.ts'
import { paramsOf, type Param, type ParamName } from './params.ts'
import { queryReader } from './query.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Statuses of this endpoint beyond those that every endpoint has, each with its condition. */
type Errors = Partial<Record<400 | 401 | 403 | 404 | 409 | 416 | 422 | 503, string>>

export interface RequiredFeature {
  name: Feature
  error: { status: 403 | 404; message: string }
}

interface Definition<
  Url extends string,
  Access extends Permission,
  Query extends Record<string, TSchema>,
  Body extends TSchema,
> {
  method: Method | readonly [Method, ...Method[]]
  url: Url
  summary: string
  scope: Scope | 'none'
  permission: Access
  /** A feature that the organization must have, and the error if it does not. */
  feature?: RequiredFeature
  /** Placeholders that mean something of their own here; http/params.ts has the others. */
  params?: { [Name in ParamName<Url>]?: Param }
  query?: Query
  /** How a list is paged. Adds the parameters of that scheme to the document. */
  paging?: 'pages' | 'long pages' | 'cursor'
  body?: Body
  /** Shown in the OpenAPI document instead of `body`, where a handler demands more than the schema. */
  documentedBody?: TSchema
  /** The error for a body that does not fit the schema. `errors`: 422 with the field in `errors`. Default 422. */
  badBody?: 400 | 422 | 'errors'
  /** Default 1 MiB. */
  bodyLimitBytes?: number
  /** Instead of `body`: the bytes with any Content-Type, for a handler that checks a signature. */
  rawBody?: RawBody<Params<Url>>
  /** `documentedBody` can be large: the handler gets its bytes, and reads and checks them in a thread. */
  readsBytes?: true
  /** It calls other systems or waits for a thread, so it cannot run inside the transaction of an Idempotency-Key. */
  callsOut?: true
  /** It may take access away, so it is answered when no server has the old access cached. */
  changesAccess?: true
  /** For programs that cannot send a bearer token: the token may be the password of Basic. Only for GET. */
  takesBasic?: true
  /** Links of our pages lead here. A browser that follows one adds no header, so a ticket in the URL proves the session. Only for GET. */
  download?: true
  /**
   * The answer is a stream that does not end by itself. It ends when this says that the caller may no longer read it; that is
   * asked regularly, and when access has changed. The token, the scope and the permission are checked before.
   */
  mayFollow?(input: Following<Url>): Promise<boolean>
  answers: Record<number, TSchema | null>
  errors?: Errors
  handler(input: Input<Url, Access, Query, Body>): Promise<Answer>
}

/** A caller who reads an endless stream. */
interface Following<Url> {
  ctx: Context
  org: Organization
  caller: Caller
  params: Params<Url>
}

/** `admit` judges the URL before the body is read, and returns who the body counts for. */
interface RawBody<Params> {
  admit(ctx: Context, params: Params): Promise<Owner>
}

type Params<Url> = Record<ParamName<Url>, string>

type Input<Url, Access, Query extends Record<string, TSchema>, Body extends TSchema> = {
  ctx: Context
  /** `HEAD` is possible where the route has `GET`. */
  method: string
  url: RequestUrl
  headers: IncomingHttpHeaders
  params: Params<Url>
  query: { [Name in keyof Query]?: Static<Query[Name]> }
  body: Static<Body>
  /** Empty unless the route has `rawBody` or `readsBytes`. */
  rawBody: Buffer
  /** For responses that take long. null: the caller's access has ended. */
  reauthorize: () => Promise<Membership | null>
  /** Aborts when nobody waits for the response any more. */
  gone: () => AbortSignal
} & (Url extends `${string}/:org${string}` ? { org: Organization } : unknown) &
  (Access extends 'anonymous' ? unknown : { caller: Caller }) &
  (Access extends `${string}_pipeline` ? { pipelineId: string } : unknown)

/** Who calls, and in which organization. */
export interface Membership {
  caller: Caller | null
  org: Organization | null
}

/** A route without its type parameters. */
export interface Route {
  methods: readonly Method[]
  url: string
  summary: string
  scope: Scope | 'none'
  permission: Permission
  feature: RequiredFeature | null
  params: Record<string, Param>
  query: Record<string, TSchema>
  body: TSchema | undefined
  documentedBody: TSchema | undefined
  badBody: 400 | 422
  bodyLimitBytes: number
  rawBody: RawBody<Record<string, string>> | null
  readsBytes: boolean
  callsOut: boolean
  changesAccess: boolean
  download: boolean
  takesBasic: boolean
  mayFollow: ((input: Following<string>) => Promise<boolean>) | null
  answers: Record<number, TSchema | null>
  errors: Errors
  run(input: RawInput): Promise<Answer>
}

/** Routes by the name of the folder they live in, as app.ts lists them. */
export type Slices = Readonly<Record<string, readonly Route[]>>

export interface RawInput {
  ctx: Context
  method: string
  url: RequestUrl
  headers: IncomingHttpHeaders
  params: Record<string, string>
  body: unknown
  caller: Caller | null
  org: Organization | null
  pipelineId: string | null
  reauthorize: () => Promise<Membership | null>
  gone: () => AbortSignal
}

export function route<
  const Url extends string,
  const Access extends Permission,
  Query extends Record<string, TSchema> = Record<never, TSchema>,
  Body extends TSchema = TSchema,
>(definition: Definition<Url, Access, Query, Body>): Route {
  const query = { ...definition.query, ...(definition.paging ? pagingQuery[definition.paging] : {}) }
  const readQuery = queryReader(definition.query ?? {})
  const checkQuery = checker(Type.Object(definition.query ?? {}))
  const checkBody = definition.body === undefined ? null : checker(definition.body)
  const refuse = badBody[definition.badBody ?? 422]
  const methods = [definition.method].flat()

  return {
    methods,
    url: definition.url,
    summary: definition.summary,
    scope: definition.scope,
    permission: definition.permission,
    feature: definition.feature ?? null,
    params: paramsOf(definition.url, definition.params ?? {}),
    query,
    body: definition.body,
    documentedBody: definition.documentedBody ?? definition.body,
    badBody: definition.badBody === 400 ? 400 : 422,
    bodyLimitBytes: definition.bodyLimitBytes ?? 1024 * 1024,
    rawBody: definition.rawBody ?? null,
    readsBytes: definition.readsBytes ?? false,
    callsOut: definition.callsOut ?? false,
    changesAccess: definition.changesAccess ?? false,
    download: definition.download ?? false,
    takesBasic: definition.takesBasic ?? false,
    mayFollow: definition.mayFollow ?? null,
    answers: definition.answers,
    errors: definition.errors ?? {},
    async run(input) {
      const given = checkQuery(readQuery(input.url.query))
      if (!given.ok) throw badRequest(`Query parameter ${given.reason}.`)
      // A missing body counts as an empty object, so that the check names the first required field.
      const rawBody = Buffer.isBuffer(input.body) ? input.body : noBytes
      const body = checkBody?.(input.body ?? {})
      if (body?.ok === false) throw refuse(body)
      // The checks above and the access rule guarantee the types.
      const checked: unknown = { ...input, query: given.value, body: body?.value, rawBody }
      return definition.handler(checked as Input<Url, Access, Query, Body>)
    },
  }
}

/** The same endpoint at a second URL, with the same placeholders, for clients that use that one. */
export const alsoAt = (url: string, route: Route): Route => ({ ...route, url })

const noBytes = Buffer.alloc(0)

const badBody = {
  400: ({ reason }: { reason: string }) => badRequest(reason),
  422: ({ reason }: { reason: string }) => validationFailed(reason),
  errors: ({ reason, field }: { reason: string; field: string }) =>
    invalidFields([{ field, code: field === '' ? reason : reason.slice(field.length + 1) }]),
}

const pagingQuery = { pages: PageQuery, 'long pages': LongPageQuery, cursor: CursorQuery }
