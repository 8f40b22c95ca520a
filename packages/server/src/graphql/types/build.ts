import type { RawQuery } from '../../http/query.ts'
import { connectRows, pageArgs, type PageArgs } from '../connections.ts'
import { atUrl, env, from, nodeAtUrl, reference } from '../fields.ts'
import { Node } from '../node.ts'
import { listOf, rowOf, textOf } from '../rest.ts'
import type { Part } from '../table.ts'
import { bySlugOrUuid } from './find.ts'
import { isInState, type JobArgs } from './job.ts'

export const buildPart: Part = {
  queries: {
    build: {
      ...bySlugOrUuid('Build', '`slug` must name organization, pipeline and number, such as "acme/app/12".'),
      description: 'The slug is that of the organization, of the pipeline, and the number: acme/app/12.',
    },
  },
  nodes: {
    Build: {
      blockedState: {
        type: 'BuildBlockedStates',
        resolve: async (build) => (await build.text('blocked_state')) || null,
      },
      branch: 'String!',
      commit: 'String!',
      createdAt: 'DateTime',
      createdBy: {
        type: 'BuildCreator',
        async resolve(build) {
          const creator = await build.get('creator')
          if (creator !== null) return new Node('User', build.address, rowOf(creator))
          const author = await build.get('author')
          return author && new Node('UnregisteredUser', build.address, rowOf(author))
        },
      },
      env,
      finishedAt: 'DateTime',
      jobs: {
        type: 'JobConnection',
        description: 'The latest run of each job, in the order of the steps.',
        args: { ...pageArgs, state: '[JobStates!]', type: '[JobTypes!]' },
        async resolve(build, args: PageArgs & JobArgs, context) {
          // Builds of lists have their jobs only if they are asked for there.
          const withJobs = async () => nodeAtUrl(context, 'Build', await build.get('url'))?.get('jobs')
          const jobs = listOf((await build.get('jobs')) ?? (await withJobs()))
            .map(rowOf)
            .filter((job) => isInState(job, args.state))
            .filter((job) => !args.type?.length || args.type.includes(textOf(job['type'])))
          return connectRows(jobs, args, (job) => new Node('Job', build.address, job))
        },
      },
      message: 'String',
      number: 'Int!',
      organization: reference('Organization!'),
      pipeline: atUrl('Pipeline!', 'url'),
      scheduledAt: 'DateTime',
      startedAt: 'DateTime',
      state: {
        type: 'BuildStates!',
        resolve: async (build) => ((await build.get('blocked')) === true ? 'blocked' : build.get('state')),
      },
      url: from('web_url', 'String!'),
      uuid: 'String!',
    },
  },
  objects: { UnregisteredUser: { email: 'String', name: 'String' } },
  unions: { BuildCreator: ['UnregisteredUser', 'User'] },
  enums: {
    BuildStates:
      'BLOCKED CANCELED CANCELING CREATING FAILED FAILING NOT_RUN PASSED RUNNING SCHEDULED SKIPPED',
    BuildBlockedStates: 'FAILED PASSED RUNNING',
  },
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
  ...(args.state ? { state: args.state } : {}),
})
