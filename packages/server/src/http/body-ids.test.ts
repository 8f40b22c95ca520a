// Every id in a body is authorized like an id in a path. This test walks the properties of all request bodies, and fails
// on one that refers to a resource and is not listed here.
import { beforeAll, describe, expect, it } from 'vitest'
import type { TSchema } from 'typebox'
import { useApp } from '../../test/app.ts'
import {
  aCluster,
  aMember,
  aPipeline,
  aQueue,
  aTeam,
  inTeam,
  unique,
  withFeature,
  type TestUser,
} from '../../test/builders.ts'
import { aWorld, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'
import { newId } from '../lib/ids.ts'

const app = useApp()

/** The kinds of ids in bodies. */
type Kind = 'cluster' | 'queue' | 'team' | 'user' | 'template' | 'pipeline'

interface Property {
  kind: Kind
  /** A body in which only the id can be wrong. */
  body(id: string): object
  /**
   * Whether there are ids of the caller's own organization that a caller who may use the endpoint may not name. An
   * endpoint for administrators has none, and members may name each other, except as the one who acts.
   */
  limited: boolean
}

const newPipeline = (more: object) => ({
  name: unique('pipeline'),
  repository: 'https://git.example.com/app.git',
  configuration: 'steps: []',
  ...more,
})
const service = { provider: 'webhook', settings: { url: 'https://hooks.example.com/a' } }
/** Members create pipelines only within a team that lets them. */
const ownTeam = () => ({ teams: { [open.team]: 'manage_build_and_read' } })

const properties: Record<string, Property> = {
  'POST /budgets pipeline_id': {
    kind: 'pipeline',
    body: (pipeline_id) => ({ pipeline_id, amount: 5 }),
    limited: false,
  },
  'POST /budgets team_id': { kind: 'team', body: (team_id) => ({ team_id, amount: 5 }), limited: false },
  'POST /clusters maintainers.user': {
    kind: 'user',
    body: (user) => ({ name: unique('cluster'), maintainers: [{ user }] }),
    limited: false,
  },
  'POST /clusters maintainers.team': {
    kind: 'team',
    body: (team) => ({ name: unique('cluster'), maintainers: [{ team }] }),
    limited: false,
  },
  'PUT /clusters/:cluster default_queue_id': {
    kind: 'queue',
    body: (default_queue_id) => ({ default_queue_id }),
    limited: true,
  },
  'POST /clusters/:cluster/maintainers user': { kind: 'user', body: (user) => ({ user }), limited: false },
  'POST /clusters/:cluster/maintainers team': { kind: 'team', body: (team) => ({ team }), limited: true },
  'POST /invitations teams.id': {
    kind: 'team',
    body: (id) => ({ emails: [`${unique('guest')}@example.com`], teams: [{ id }] }),
    limited: false,
  },
  'PUT /jobs/:job/unblock unblocker': { kind: 'user', body: (unblocker) => ({ unblocker }), limited: true },
  'PUT /pipelines/:pipeline/builds/:build/jobs/:job/unblock unblocker': {
    kind: 'user',
    body: (unblocker) => ({ unblocker }),
    limited: true,
  },
  'PUT /pipeline-settings default_cluster_id': {
    kind: 'cluster',
    body: (default_cluster_id) => ({ default_cluster_id }),
    limited: false,
  },
  'POST /pipelines cluster_id': {
    kind: 'cluster',
    body: (cluster_id) => newPipeline({ cluster_id, ...ownTeam() }),
    limited: true,
  },
  'POST /pipelines pipeline_template_uuid': {
    kind: 'template',
    body: (pipeline_template_uuid) =>
      newPipeline({ pipeline_template_uuid, configuration: null, cluster_id: open.cluster, ...ownTeam() }),
    limited: true,
  },
  'POST /pipelines teams': {
    kind: 'team',
    body: (team) =>
      newPipeline({
        cluster_id: open.cluster,
        teams: { ...ownTeam().teams, [team]: 'manage_build_and_read' },
      }),
    limited: true,
  },
  'POST /pipelines team_uuids': {
    kind: 'team',
    body: (team) => newPipeline({ cluster_id: open.cluster, team_uuids: [open.team, team] }),
    limited: true,
  },
  'PUT /pipelines/:pipeline cluster_id': {
    kind: 'cluster',
    body: (cluster_id) => ({ cluster_id }),
    limited: true,
  },
  'PUT /pipelines/:pipeline pipeline_template_uuid': {
    kind: 'template',
    body: (pipeline_template_uuid) => ({ pipeline_template_uuid }),
    limited: true,
  },
  'PUT /pipelines/:pipeline teams': {
    kind: 'team',
    body: (team) => ({ teams: { ...ownTeam().teams, [team]: 'manage_build_and_read' } }),
    limited: true,
  },
  'PUT /pipelines/:pipeline team_uuids': {
    kind: 'team',
    body: (team) => ({ team_uuids: [open.team, team] }),
    limited: true,
  },
  'POST /rules value.source_pipeline': {
    kind: 'pipeline',
    body: (source_pipeline) => ({
      type: 'pipeline.trigger_build.pipeline',
      value: { source_pipeline, target_pipeline: open.target },
    }),
    limited: false,
  },
  'POST /rules value.target_pipeline': {
    kind: 'pipeline',
    body: (target_pipeline) => ({
      type: 'pipeline.trigger_build.pipeline',
      value: { source_pipeline: open.target, target_pipeline },
    }),
    limited: false,
  },
  'POST /services scope_uuids': {
    kind: 'pipeline',
    body: (id) => ({ ...service, scope: 'some_projects', scope_uuids: [id] }),
    limited: true,
  },
  'PATCH /services/:service scope_uuids': {
    kind: 'team',
    body: (id) => ({ scope: 'some_teams', scope_uuids: [id] }),
    limited: true,
  },
  'PUT /sso group_teams.team_id': {
    kind: 'team',
    body: (team_id) => ({
      issuer: 'https://login.example.com',
      client_id: 'millrace',
      client_secret: 'secret',
      group_teams: [{ group: 'developers', team_id }],
    }),
    limited: false,
  },
  'POST /teams/:team/members user_id': { kind: 'user', body: (user_id) => ({ user_id }), limited: false },
  'POST /teams/:team/pipelines pipeline_id': {
    kind: 'pipeline',
    body: (pipeline_id) => ({ pipeline_id, access_level: 'read_only' }),
    limited: true,
  },
}

/** Properties that sound like ids of resources: why they are not, or where they are authorized. */
const others: Record<string, string> = {
  'POST /teams/:team/suites suite_id': 'judged in resources/tests/team-suites/team-suites.test.ts',
  'POST /service_accounts owner_ids': 'judged in resources/people/service_accounts/service-accounts.test.ts',
  'PUT /service_accounts/:service_account owner_ids': 'the same',
  'PUT /suites/:suite/tests/:test/mute owner_id': 'judged in resources/tests/tests/quarantine.test.ts',
  'PUT /suites/:suite/tests/:test/skip owner_id': 'the same',
  'PUT /v2/analytics/organizations/:org/suites/:suite/tests/:test/mute owner_id': 'the same',
  'PUT /v2/analytics/organizations/:org/suites/:suite/tests/:test/skip owner_id': 'the same',
  'PUT /suites/:suite/execution-tags executions.id':
    'judged in resources/tests/execution-tags/execution-tags.test.ts',
  'PUT /v2/analytics/organizations/:org/suites/:suite/execution-tags executions.id': 'the same',
  'POST /suites quarantine_rule': 'the name of a rule',
  'PUT /suites/:suite quarantine_rule': 'the same',
  'POST /v2/analytics/organizations/:org/suites quarantine_rule': 'the same',
  'PUT /v2/analytics/organizations/:org/suites/:suite quarantine_rule': 'the same',
  'PUT /clusters/:cluster/queues/:queue fair_by': 'one of four words',
  'POST /pipelines/:pipeline/triggers secret': 'what payloads are signed with',
  'PUT /pipelines/:pipeline/triggers/:trigger secret': 'the same',
  'POST /token_issuers service_account_id': 'judged in resources/people/token_issuers/token-issuers.test.ts',
  'PUT /token_issuers/:token_issuer service_account_id': 'the same',
  'POST /suites team_ids': 'judged in resources/tests/suites/suites.test.ts',
  'POST /v2/analytics/organizations/:org/suites team_ids': 'the same',
  'POST /suites emoji': 'a word between colons',
  'PUT /suites/:suite emoji': 'the same',
  'POST /v2/analytics/organizations/:org/suites emoji': 'the same',
  'PUT /v2/analytics/organizations/:org/suites/:suite emoji': 'the same',
  'PUT /rules/:rule value.source_pipeline': 'read as in POST /rules',
  'PUT /rules/:rule value.target_pipeline': 'the same',
  'POST /v2/user/access-tokens organization_slugs':
    'judged in resources/people/access-tokens/access-tokens.test.ts',
  'POST /pipelines/:pipeline/builds pull_request_id': 'a number of the source host',
  'POST /pipelines/:pipeline/builds author': 'a text that is shown; the creator is the caller',
  'PUT /retention keep_newest_builds': 'a number of builds',
  'PUT /retention archive_builds': 'yes or no',
  'PUT /pipelines/:pipeline/retention keep_newest_builds': 'a number of builds',
  'PUT /pipelines/:pipeline/retention archive_builds': 'yes or no',
  'POST /pipelines steps.pipeline': 'judged when the step triggers: conductor/children.test.ts',
  'POST /pipelines steps.trigger_project_slug': 'the same',
  'PUT /pipelines/:pipeline steps.pipeline': 'the same',
  'PUT /pipelines/:pipeline steps.trigger_project_slug': 'the same',
  'POST /pipelines slug': 'the name of the new pipeline',
  'PUT /pipelines/:pipeline slug': 'the same',
  'POST /pipelines steps.agent_query_rules': 'tags of agents, looked for in the cluster of the pipeline',
  'PUT /pipelines/:pipeline steps.agent_query_rules': 'the same',
  'POST /pipelines steps.build': 'what the triggered build is to be, not a build',
  'PUT /pipelines/:pipeline steps.build': 'the same',
  'PUT /clusters/:cluster/queues/:queue hostedAgents.agentImageRef':
    'the name of an image; one that was built here must be of the cluster: agent-images.test.ts',
  'PUT /pipeline-settings/build-export strategy_id': 'one of two words',
  'POST /repository_connections app_id': 'a number of the source host',
  'POST /repository_connections installation_id': 'the same',
  'PUT /repository_connections/:connection app_id': 'the same',
  'PUT /repository_connections/:connection installation_id': 'the same',
  'POST /repository_connections token': 'a secret of the source host',
  'PUT /repository_connections/:connection token': 'the same',
  'POST /repository_connections webhook_secret': 'the same',
  'PUT /repository_connections/:connection webhook_secret': 'the same',
  'PATCH /services/:service provider.id': 'the name of a kind of service',
  'PUT /sso client_id': 'a name at the provider',
  'PUT /sso client_secret': 'a secret of the provider',
  'PUT /sso group_teams': 'a list, see its property team_id',
  'PUT  emoji': 'a word between colons',
  'POST /clusters emoji': 'the same',
  'PUT /clusters/:cluster emoji': 'the same',
  'POST /pipelines emoji': 'the same',
  'POST /pipelines junit_artifacts': 'patterns of paths',
  'PUT /pipelines/:pipeline emoji': 'the same',
  'PUT /pipelines/:pipeline junit_artifacts': 'patterns of paths',
  'POST /clusters maintainers': 'a list of users and teams, see its properties',
  'POST /invitations teams': 'a list, see its property id',
}

const routes = Object.values(slices).flat()
const nouns = new Set(routes.flatMap(({ url }) => [...url.matchAll(/:(\w+)/g)].map(([, name]) => name)))
const words = /^(id|uuid|slug|ref|unblocker|creator|author|owner|by)$/

/** Whether a property sounds like the id of a resource: `team_uuids`, `agentImageRef`, `source_pipeline`. */
function soundsLikeName(property: string): boolean {
  const last =
    property
      .split(/_|(?=[A-Z])/)
      .at(-1)
      ?.toLowerCase() ?? ''
  const singular = last.replace(/s$/, '')
  return words.test(singular) || nouns.has(last) || nouns.has(singular)
}

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** Walks into objects. The keys of a record may be ids. */
const maybeName = (schema: Schema) => schema.type !== 'boolean' && schema.properties === undefined

function pathsOf(schema: Schema, above: readonly string[] = []): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    ...(soundsLikeName(name) && maybeName(inner) ? [[...above, name].join('.')] : []),
    ...pathsOf(inner, [...above, name]),
  ])
  const inside = [schema.items ?? [], schema.anyOf ?? []].flat().flatMap((inner) => pathsOf(inner, above))
  return [...new Set([...own, ...inside])]
}

const found = routes.flatMap((route) =>
  (route.body === undefined ? [] : pathsOf(route.body as TSchema & Schema)).map((path) => ({
    name: `${route.methods[0]} ${route.url.replace('/v2/organizations/:org', '')} ${path}`,
    route,
  })),
)

let ours: World
let theirs: World
/** One id of each kind that the member may use, and one that they may not. */
let open: Record<Kind | 'target', string>
let closed: Record<Kind, string>
let member: TestUser

beforeAll(async () => {
  ours = await aWorld(app)
  theirs = await aWorld(app)
  const { org, admin } = ours
  await withFeature(app, org, 'members_manage_notification_services')
  await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
  member = await aMember(app, org)
  const another = await aMember(app, org)
  const given = { members_can_create_pipelines: true, is_default_team: false }
  const team = await aTeam(app, org, admin, given)
  await inTeam(app, team, admin, member, 'maintainer')
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: member.id }] })
  const other = await aCluster(app, org, admin)
  const template = async (available: boolean) => {
    const body = { name: unique('template'), configuration: 'steps: []', available }
    const answer = await app.request('POST', `${org.path}/pipeline-templates`, { token: admin.token, body })
    return String(answer.body.uuid)
  }
  open = {
    cluster: cluster.id,
    queue: (await aQueue(app, cluster, admin)).id,
    team: team.id,
    user: member.id,
    template: await template(true),
    pipeline: (await aPipelineOf(team.path)).id,
    target: (await aPipeline(app, org, 'steps: []')).id,
  }
  closed = {
    cluster: other.id,
    queue: (await aQueue(app, other, admin)).id,
    team: (await aTeam(app, org, admin, { privacy: 'secret' })).id,
    user: another.id,
    template: await template(false),
    pipeline: (await aPipeline(app, org, 'steps: []')).id,
  }
})

async function aPipelineOf(teamPath: string): Promise<{ id: string; slug: string; path: string }> {
  const pipeline = await aPipeline(app, ours.org, 'steps: [{ block: Go }]')
  const body = { pipeline_id: pipeline.id, access_level: 'manage_build_and_read' }
  await app.request('POST', `${teamPath}/pipelines`, { token: ours.admin.token, body })
  return pipeline
}

/** The member's own resources, whose endpoints the test calls. */
async function placesOfMember(): Promise<Record<string, string>> {
  const { org, admin } = ours
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: member.id }] })
  const team = await aTeam(app, org, admin)
  await inTeam(app, team, admin, member, 'maintainer')
  const pipeline = await aPipelineOf(`${org.path}/teams/${open.team}`)
  const build = await app.request('POST', `${pipeline.path}/builds`, {
    token: admin.token,
    body: { commit: 'HEAD', branch: 'main' },
  })
  const job = build.body.jobs?.[0]?.id
  return {
    cluster: cluster.id,
    team: team.id,
    pipeline: pipeline.slug,
    build: String(build.body.number),
    job: String(job),
  }
}

function foreign(kind: Kind): string {
  const ids: Record<string, string | undefined> = { ...theirs.ids, pipeline: theirs.ids['team_pipeline'] }
  return ids[kind] ?? ''
}

const considered = found.flatMap(({ name, route }) => {
  const property = properties[name]
  return property === undefined ? [] : [{ name, route, property }]
})

describe('abuse case R2: every id in a request body', () => {
  it('is listed here, and nothing else is', () => {
    const names = found.map(({ name }) => name)
    expect([...Object.keys(properties), ...Object.keys(others)].toSorted()).toEqual(
      [...new Set(names)].toSorted(),
    )
  })

  it.each(considered)(
    "$name refuses another organization's as it refuses one that does not exist",
    async ({ route, property: { kind, body } }) => {
      const [method = 'POST'] = route.methods
      const { token } = ours.admin
      const ask = async (id: string) => {
        const url = urlIn(ours, route, await placesOfMember())
        const answer = await app.request(method, url, { token, body: body(id) })
        return [answer.status, answer.text.replaceAll(id, 'THE ID')]
      }
      const [theirId, noId] = [foreign(kind), newId()]
      const refused = await ask(theirId)
      expect(refused[0]).toBe(422)
      expect(refused).toEqual(await ask(noId))
    },
  )

  it.each(considered.filter(({ property }) => property.limited))(
    '$name refuses an id that the caller may not use',
    async ({ route, property: { kind, body } }) => {
      // Administrators may use everything, so theirs are not limited.
      expect(route.permission).not.toBe('admin')
      const [method = 'POST'] = route.methods
      const url = urlIn(ours, route, await placesOfMember())
      const answer = await app.request(method, url, { token: member.token, body: body(closed[kind]) })
      expect([403, 422]).toContain(answer.status)
    },
  )

  it.each(considered)(
    '$name accepts an id that the caller may use',
    async ({ name, route, property: { kind, body } }) => {
      const [method = 'POST'] = route.methods
      const { token } = route.permission === 'admin' ? ours.admin : member
      const places = await placesOfMember()
      const own = await ownOf(kind, name, places)
      const taken = await app.request(method, urlIn(ours, route, places), { token, body: body(own) })
      expect([200, 201]).toContain(taken.status)
    },
  )

  /** The queue must belong to the cluster, and an added user must not be a member yet. */
  async function ownOf(kind: Kind, name: string, { cluster = '' }: Record<string, string>): Promise<string> {
    if (name.includes('/members') || name.includes('/maintainers user')) return closed.user
    if (kind !== 'queue') return open[kind]
    const path = `${ours.org.path}/clusters/${cluster}`
    return (await aQueue(app, { path }, ours.admin)).id
  }
})
