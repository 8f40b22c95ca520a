import { badRequest } from '../../lib/errors.ts'
import type { RawQuery } from '../../http/query.ts'
import { connectionSdl, pageArgs, readArgs, toConnection, type PageArgs } from '../connections.ts'
import { isOfType, isInState, toJob, type JobArgs } from './job.ts'
import { idInUrl, organizationOf, pipelineOf } from '../fields.ts'
import { listOf, rowOf } from '../rest.ts'
import { Thing, type Asked, type Part } from '../node.ts'

export const buildPart: Part = {
  sdl: /* GraphQL */ `
    ${connectionSdl('Build')}
    extend type Query {
      "The slug is that of the organization, of the pipeline, and the number: acme/app/12."
      build(slug: ID, uuid: ID): Build
    }
    type Build implements Node {
      blockedState: BuildBlockedStates
      branch: String!
      commit: String!
      createdAt: DateTime
      createdBy: BuildCreator
      env: [String!]
      finishedAt: DateTime
      id: ID!
      "The latest run of each job, in the order of the steps."
      jobs(${pageArgs}, state: [JobStates!], type: [JobTypes!]): JobConnection
      message: String
      number: Int!
      organization: Organization!
      pipeline: Pipeline!
      scheduledAt: DateTime
      startedAt: DateTime
      state: BuildStates!
      url: String!
      uuid: String!
    }
    union BuildCreator = UnregisteredUser | User
    type UnregisteredUser {
      email: String
      name: String
    }
    enum BuildStates {
      BLOCKED
      CANCELED
      CANCELING
      CREATING
      FAILED
      FAILING
      NOT_RUN
      PASSED
      RUNNING
      SCHEDULED
      SKIPPED
    }
    enum BuildBlockedStates {
      FAILED
      PASSED
      RUNNING
    }
  `,
  resolvers: {
    Query: {
      async build(_: unknown, { slug, uuid }: { slug?: string; uuid?: string }, { rest, places }: Asked) {
        const place = slug ? placeOfSlug(slug) : await places.find('Build', uuid ?? '')
        if (place === null) return null
        const row = await rest.find(build, place)
        return row && new Thing('Build', place.org, row)
      },
    },
    Build: {
      blockedState: async (source: Thing) => ((await source.text('blocked_state')) || null)?.toUpperCase(),
      async createdBy(source: Thing) {
        const creator = await source.get('creator')
        if (creator !== null) return new Thing('User', source.org, rowOf(creator))
        const author = await source.get('author')
        return author === null ? null : { __typename: 'UnregisteredUser', ...rowOf(author) }
      },
      env: async (source: Thing) =>
        Object.entries(rowOf(await source.get('env'))).map(([name, value]) => `${name}=${String(value)}`),
      async jobs(source: Thing, args: PageArgs & JobArgs, { rest }: Asked) {
        const { first, offset } = readArgs(args)
        const shown = (await source.get('jobs')) ?? (await withJobs(rest, source))['jobs']
        const jobs = listOf(shown)
          .map(rowOf)
          .filter((job) => isInState(job, args.state) && isOfType(job, args.type))
        const nodes = jobs.slice(offset, offset + first).map((row) => toJob(source.org, row))
        return toConnection(nodes, offset, jobs.length > offset + first, async () => jobs.length)
      },
      organization: ({ org }: Thing, _: object, { rest }: Asked) => organizationOf(rest, org),
      async pipeline(source: Thing, _: object, { rest }: Asked) {
        return pipelineOf(rest, source.org, idInUrl(await source.get('url'), 'pipelines') ?? '')
      },
      state: async (source: Thing) =>
        (await source.get('blocked')) === true ? 'BLOCKED' : (await source.text('state')).toUpperCase(),
      url: (source: Thing) => source.get('web_url'),
    },
  },
}

const build = '/v2/organizations/:org/pipelines/:pipeline/builds/:build'

async function withJobs(rest: Asked['rest'], source: Thing) {
  const url = await source.get('url')
  const pipeline = idInUrl(url, 'pipelines') ?? ''
  return rest.get(build, { org: source.org, pipeline, build: idInUrl(url, 'builds') ?? '' })
}

function placeOfSlug(slug: string): { org: string; pipeline: string; build: string } {
  const [org, pipeline, number, ...more] = slug.split('/')
  if (!org || !pipeline || !number || more.length > 0) {
    throw badRequest('`slug` must name organization, pipeline and number, such as "acme/app/12".')
  }
  return { org, pipeline, build: number }
}

export type BuildArgs = {
  branch?: string[] | null
  commit?: string[] | null
  createdAtFrom?: string | null
  createdAtTo?: string | null
  state?: string[] | null
}

export const buildFilter = (args: BuildArgs, hasJobs: boolean): RawQuery => ({
  exclude_pipeline: 'true',
  ...(hasJobs ? {} : { exclude_jobs: 'true' }),
  ...(args.branch ? { branch: args.branch } : {}),
  ...(args.commit ? { commit: args.commit } : {}),
  ...(args.createdAtFrom ? { created_from: args.createdAtFrom } : {}),
  ...(args.createdAtTo ? { created_to: args.createdAtTo } : {}),
  ...(args.state ? { state: args.state.map((state) => state.toLowerCase()) } : {}),
})
