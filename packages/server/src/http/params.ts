// Placeholders of a URL. A value that cannot exist is answered with 404 and the message of a missing resource.
import { Type, type TSchema } from 'typebox'
import { isUuid } from '../lib/ids.ts'
import { isStorable } from '../lib/unstorable.ts'

export interface Param {
  schema: TSchema
  notFound: string
  matches(text: string): boolean
}

/** `uuid('cluster')`: a UUID, or "No cluster found". */
export const uuid = (resource: string): Param => ({
  schema: Type.String({ format: 'uuid' }),
  notFound: `No ${resource} found`,
  matches: isUuid,
})

const text = (resource: string): Param => ({
  schema: Type.String(),
  notFound: `No ${resource} found`,
  matches: isStorable,
})

/** A number from 1 that fits its column. */
const number = (resource: string): Param => ({
  schema: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  notFound: `No ${resource} found`,
  matches: (text) => /^[1-9]\d{0,9}$/.test(text) && Number(text) <= 2_147_483_647,
})

/** What a placeholder means in every URL that has it. Where it means something else, the route has its own `params`. */
const known: Readonly<Record<string, Param>> = {
  access_token: uuid('access token'),
  agent: uuid('agent'),
  annotation: uuid('annotation'),
  artifact: uuid('artifact'),
  budget: uuid('budget'),
  // Spec: the integer build number, not the build UUID.
  build: number('build'),
  build_uuid: uuid('build'),
  cache: uuid('cache'),
  cluster: uuid('cluster'),
  commit_status: uuid('commit status'),
  connection: uuid('repository connection'),
  delivery: uuid('delivery'),
  emoji: text('emoji'),
  event: uuid('audit event'),
  image: text('agent image'),
  invitation: uuid('invitation'),
  job: uuid('job'),
  maintainer: uuid('maintainer'),
  pipeline: text('pipeline'),
  pipeline_uuid: uuid('pipeline'),
  queue: uuid('queue'),
  rule: uuid('rule'),
  schedule: uuid('schedule'),
  secret: uuid('secret'),
  service: uuid('notification service'),
  service_account: uuid('service account'),
  session: uuid('session'),
  suite: text('suite'),
  team: uuid('team'),
  team_pipeline: uuid('team pipeline'),
  team_suite: uuid('team suite'),
  template: uuid('pipeline template'),
  test: uuid('test'),
  test_run: uuid('test run'),
  token: uuid('token'),
  token_issuer: uuid('token issuer'),
  trigger: uuid('trigger'),
  upload: uuid('step upload'),
}

/** The names of a URL's placeholders, without `:org`. */
export type ParamName<Url> = Url extends `${string}/:${infer Name}/${infer Rest}`
  ? ParamName<`/:${Name}`> | ParamName<`/${Rest}`>
  : Url extends `${string}/:${infer Name}`
    ? Exclude<Name extends `${infer Stem}.${string}` ? Stem : Name, 'org'>
    : never

/** The placeholders of a URL without `:org`, which is judged before them. */
export function paramsOf(
  url: string,
  own: Readonly<Record<string, Param | undefined>>,
): Record<string, Param> {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name).filter((name) => name !== 'org')
  return Object.fromEntries(
    names.map((name) => {
      const param = own[name] ?? known[name]
      if (param === undefined) throw new Error(`No route says what :${name} is, in ${url}.`)
      return [name, param]
    }),
  )
}
