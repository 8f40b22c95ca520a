import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  inTeam,
  unique,
  withFeature,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'

const app = useApp()

interface Rights {
  may: Record<string, boolean>
  favorite?: boolean
}

/** Two organizations: one without teams, one where teams give access and members get two features. */
interface World {
  org: TestOrganization
  people: Record<string, TestUser>
  cluster: { path: string }
  team: { path: string; id: string }
  pipeline: { path: string; id: string; slug: string }
}

let plain: World
let withTeams: World
beforeAll(async () => {
  plain = await aWorldOf()
  withTeams = await aWorldOf()
  const { org, people, team, pipeline } = withTeams
  const { admin } = people
  if (admin === undefined) throw new Error('There is no administrator.')
  const give = (access_level: string, to: string) =>
    app.request('POST', `${org.path}/teams/${to}/pipelines`, {
      token: admin.token,
      body: { pipeline_id: pipeline.id, access_level },
    })
  await give('manage_build_and_read', team.id)
  for (const [name, access] of [
    ['reader', 'read_only'],
    ['builder', 'build_and_read'],
  ] as const) {
    const other = await aTeam(app, org, admin, { members_can_create_pipelines: name === 'builder' })
    people[name] = await aMember(app, org)
    await inTeam(app, other, admin, people[name])
    await give(access, other.id)
  }
  await app.request('POST', `${org.path}/teams/enable`, { token: admin.token })
  await withFeature(app, org, 'members_view_teams')
  await withFeature(app, org, 'members_manage_notification_services')
})

async function aWorldOf(): Promise<World> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const maintainer = await aMember(app, org)
  const member = await aMember(app, org)
  const cluster = await aCluster(app, org, admin, { maintainers: [{ user: maintainer.id }] })
  const team = await aTeam(app, org, admin)
  await inTeam(app, team, admin, maintainer, 'maintainer')
  const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
  return {
    org,
    people: { admin, maintainer, member },
    cluster,
    team,
    pipeline: { ...pipeline, path: `${org.path}/pipelines/${pipeline.slug}` },
  }
}

/** Which requests are refused with 403 or 404 is what `may` has to say. */
const isAllowed = async (token: string, method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
  ![403, 404].includes(
    (await app.request(method, path, { token, ...(body === undefined ? {} : { body }) })).status,
  )

const viewer = async (token: string, path: string): Promise<Rights | undefined> => {
  const { body } = await app.request('GET', `${path}?include_viewer=true`, { token })
  return body['viewer'] as unknown as Rights | undefined
}

describe.each([
  ['without teams', () => plain],
  ['with teams', () => withTeams],
] as const)('include_viewer=true in an organization %s', (_, world) => {
  it('tells of an organization what its routes decide', async () => {
    const { org, people, cluster } = world()
    for (const [name, { token }] of Object.entries(people)) {
      const { may } = (await viewer(token, org.path)) ?? {}
      const created = await app.request('POST', `${org.path}/pipelines`, {
        token,
        body: {
          name: unique('p'),
          repository: 'https://git.example.com/a.git',
          configuration: 'steps: []',
          cluster_id: cluster.path.split('/').at(-1),
        },
      })
      expect([name, may]).toEqual([
        name,
        {
          create_pipelines: created.status !== 403,
          administer: await isAllowed(token, 'GET', `${org.path}/api-settings`),
          view_teams: await isAllowed(token, 'GET', `${org.path}/teams`),
          manage_services: await isAllowed(token, 'GET', `${org.path}/services`),
          view_audit_log: await isAllowed(token, 'GET', `${org.path}/audit_events`),
        },
      ])
    }
  })

  it('tells of a pipeline, a cluster and a team what their routes decide, alone and in lists', async () => {
    const { org, people, cluster, team, pipeline } = world()
    for (const [name, { token }] of Object.entries(people)) {
      const build = { commit: 'HEAD', branch: 'main' }
      const rights = {
        pipeline: {
          may: {
            build: await isAllowed(token, 'POST', `${pipeline.path}/builds`, build),
            edit: await isAllowed(token, 'PATCH', pipeline.path, { description: name }),
          },
          favorite: false,
        },
        cluster: { may: { manage: await isAllowed(token, 'PATCH', cluster.path, { description: name }) } },
        team: { may: { manage: await isAllowed(token, 'PATCH', team.path, { description: name }) } },
      }
      for (const [kind, thing] of Object.entries({ pipeline, cluster, team })) {
        const alone = await app.request('GET', `${thing.path}?include_viewer=true`, { token })
        if (alone.status !== 200) continue
        expect([name, kind, alone.body['viewer']]).toEqual([name, kind, rights[kind as keyof typeof rights]])
        const list = await app.request('GET', `${org.path}/${kind}s?include_viewer=true&per_page=100`, {
          token,
        })
        const listed = list.list.find(({ id }) => id === alone.body['id'])
        expect([name, kind, listed?.['viewer']]).toEqual([name, kind, alone.body['viewer']])
      }
    }
  })

  it('differs between people, so that this test can fail', async () => {
    const { people, pipeline, cluster } = world()
    const managers = await Promise.all(
      Object.values(people).map(async ({ token }) => (await viewer(token, cluster.path))?.may['manage']),
    )
    expect(new Set(managers)).toEqual(new Set([true, false]))
    expect((await viewer(people['admin']?.token ?? '', pipeline.path))?.may).toEqual({
      build: true,
      edit: true,
    })
  })

  it('is absent unless asked for', async () => {
    const { org, people, cluster, team, pipeline } = world()
    for (const path of [org.path, cluster.path, team.path, pipeline.path]) {
      const { body } = await app.request('GET', path, { token: people['admin']?.token ?? '' })
      expect(body).not.toHaveProperty('viewer')
    }
  })
})
