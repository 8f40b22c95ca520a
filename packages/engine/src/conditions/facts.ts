import type { EnvLookup } from '../expansion.ts'

/** The values that a condition may use. Times, meta-data and other steps' results are not among them. */
export interface ConditionFacts {
  build: BuildFacts
  pipeline: {
    id: string
    slug: string
    defaultBranch: string | null
    repository: string | null
    startedPassing?: boolean
    startedFailing?: boolean
  }
  organization: { id: string; slug: string }
  /** Only for notifications of a step. */
  step?: StepFacts
  /** Pipeline variables, beaten by build variables, beaten by built-in ones. */
  env: EnvLookup
  /** Only for the condition of a trigger: a text, number or boolean of the payload as a text; null where there is none. */
  payload?: (pointer: string) => string | null
}

interface BuildFacts {
  id: string
  number: number
  branch: string
  commit: string
  tag: string | null
  message: string | null
  state: string
  blockedState: string | null
  fixed: boolean | null
  source: string
  sourceEvent?: string | null
  sourceAction?: string | null
  author: PersonFacts | null
  creator: (PersonFacts & { verified: boolean }) | null
  scm?: {
    author?: { name: string | null; email: string | null }
    committer?: { name: string | null; email: string | null }
  }
  pullRequest: PullRequestFacts | null
  mergeQueue?: { baseBranch: string | null; baseCommit: string | null } | null
}

interface PersonFacts {
  id: string | null
  name: string | null
  email: string | null
  /** Slugs; null when unknown. */
  teams: readonly string[] | null
}

interface PullRequestFacts {
  id: string
  baseBranch: string | null
  repository: string | null
  isFork: boolean | null
  isDraft: boolean | null
  labels: readonly string[]
  /** The label of a labeled or unlabeled event. */
  label: string | null
}

interface StepFacts {
  id: string
  key: string | null
  label: string | null
  type: string
  state: string
  outcome: string
}
