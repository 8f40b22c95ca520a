// A local build as conditions and jobs see it.
import type { ConditionFacts } from '@millrace/engine/conditions/facts.ts'
import type { Env, Person, StandardFacts } from '@millrace/engine/environment.ts'
import type { JobRow, StepRow } from '@millrace/engine/rows.ts'
import type { BuildState } from '@millrace/engine/states.ts'
import type { ScriptWork } from '@millrace/engine/work.ts'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Checkout } from './checkout.ts'

export type BuildFacts = Omit<StandardFacts, 'step' | 'group' | 'job'>

export function describeBuild(buildId: string, checkout: Checkout): BuildFacts {
  const name = basename(checkout.root)
  const { user } = checkout
  const person: Person | null = user === null ? null : { ...user, teams: [] }
  return {
    organization: { id: randomUUID(), slug: 'local' },
    pipeline: {
      id: randomUUID(),
      slug:
        name
          .toLowerCase()
          .replaceAll(/[^a-z0-9]+/g, '-')
          .replaceAll(/^-|-$/g, '') || 'pipeline',
      name,
      defaultBranch: checkout.defaultBranch,
      repository: checkout.repository,
      provider: null,
      teams: [],
    },
    cluster: null,
    build: {
      id: buildId,
      number: 1,
      url: pathToFileURL(checkout.root).href,
      branch: checkout.branch,
      commit: checkout.commit,
      message: checkout.message,
      tag: null,
      source: 'ui',
      author: person,
      creator: person,
      pullRequest: null,
      rebuiltFrom: null,
      triggeredFrom: null,
      mergeQueue: null,
      cleanCheckout: false,
    },
    agent: { id: randomUUID(), name: hostname(), tags: [], isHosted: false },
    access: null,
    unblocker: null,
  }
}

export interface PlannedJob {
  job: JobRow
  work: ScriptWork
  step: StepRow
  group: { id: string; key: string | null; label: string | null } | null
}

export function describeJob(build: BuildFacts, { job, work, step, group }: PlannedJob): StandardFacts {
  return {
    ...build,
    step: { id: step.id, key: step.key },
    group,
    job: { id: job.id, retriesCount: job.retriesCount, timeoutMinutes: work.timeoutMinutes },
  }
}

export function conditionFacts(
  { build, pipeline, organization }: BuildFacts,
  state: BuildState,
  env: Env,
): ConditionFacts {
  const { creator } = build
  const person = creator === null ? null : { id: null, name: creator.name, email: creator.email, teams: null }
  return {
    build: {
      id: build.id,
      number: build.number,
      branch: build.branch,
      commit: build.commit,
      tag: build.tag,
      message: build.message,
      state,
      blockedState: null,
      fixed: null,
      source: build.source,
      author: person,
      creator: person === null ? null : { ...person, verified: true },
      pullRequest: null,
    },
    pipeline,
    organization,
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
  }
}

/** Variables of an outer build describe other jobs. */
export function withoutOuterBuild(env: NodeJS.ProcessEnv): Env {
  const isInside = env['BUILDKITE'] === 'true'
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !(isInside && entry[0].startsWith('BUILDKITE')),
  )
  return Object.fromEntries(entries)
}
