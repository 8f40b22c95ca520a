// The host of a pipeline's repository and its settings, as `provider` of REST has them.
import { rowOf, type Row } from '../rest.ts'
import type { Part } from '../node.ts'

const filter = ['filterCondition: String', 'filterEnabled: Boolean']
const builds = ['buildBranches: Boolean', 'buildPullRequests: Boolean', 'buildTags: Boolean', ...filter]
const bitbucket = [
  ...builds,
  'cancelDeletedBranchBuilds: Boolean',
  'ignoreDefaultBranchPullRequests: Boolean',
  'publishCommitStatus: Boolean',
  'publishCommitStatusPerStep: Boolean',
  'pullRequestBranchFilterConfiguration: String',
  'pullRequestBranchFilterEnabled: Boolean',
  'skipBuildsForExistingCommits: Boolean',
  'skipPullRequestBuildsForExistingCommits: Boolean',
]
const github = [
  ...bitbucket,
  'buildCheckRunCompleted: Boolean',
  'buildCreateEvent: Boolean',
  'buildDeploymentStatusCreated: Boolean',
  'buildIssueCommentCreated: Boolean',
  'buildIssues: Boolean',
  'buildMergeGroupChecksRequested: Boolean',
  'buildPullRequestBaseBranchChanged: Boolean',
  'buildPullRequestConvertedToDraft: Boolean',
  'buildPullRequestDequeued: Boolean',
  'buildPullRequestForks: Boolean',
  'buildPullRequestLabelsChanged: Boolean',
  'buildPullRequestMergeCommits: Boolean',
  'buildPullRequestReadyForReview: Boolean',
  'buildPullRequestReopened: Boolean',
  'buildPullRequestReviewCommentCreated: Boolean',
  'buildPullRequestReviewDismissed: Boolean',
  'buildPullRequestReviewRequested: Boolean',
  'buildPullRequestReviewSubmitted: Boolean',
  'buildReleaseCreated: Boolean',
  'buildReleasePublished: Boolean',
  'buildReleaseReleased: Boolean',
  'cancelWhenMergeGroupDestroyed: Boolean',
  'issueCommentCommandWord: String',
  'issueCommentMatchMode: String',
  'prefixPullRequestForkBranchNames: Boolean',
  'publishBlockedAsPending: Boolean',
  'reviewCommentCommandWord: String',
  'reviewCommentMatchMode: String',
  'separatePullRequestStatuses: Boolean',
  'triggerMode: String',
  'useMergeGroupBaseCommitForGitDiffBase: Boolean',
  'useStepKeyAsCommitStatus: Boolean',
]

/** Hosts by the end of their type. Clients name all of them. */
const settings: Readonly<Record<string, readonly string[]>> = {
  Beanstalk: filter,
  Bitbucket: bitbucket,
  BitbucketServer: builds,
  Codebase: filter,
  CursorOrigin: [...builds, 'publishCommitStatus: Boolean'],
  Github: github,
  GithubEnterprise: github,
  Gitlab: filter,
  GitlabCommunity: filter,
  GitlabEnterprise: filter,
  Unknown: filter,
}

/** Other ids are `Unknown`. */
const typesById: Readonly<Record<string, string>> = {
  bitbucket: 'Bitbucket',
  bitbucket_server: 'BitbucketServer',
  github: 'Github',
  github_enterprise: 'GithubEnterprise',
  gitlab: 'Gitlab',
  gitlab_ee: 'GitlabEnterprise',
}

const sdlOfHost = ([name, fields]: [string, readonly string[]]) => /* GraphQL */ `
  type RepositoryProvider${name} implements RepositoryProvider {
    name: String!
    settings: RepositoryProvider${name}Settings!
    webhookUrl: String
  }
  "A setting that the host does not have is null."
  type RepositoryProvider${name}Settings {
    ${fields.join('\n')}
  }
`

export const repositoryPart: Part = {
  sdl: /* GraphQL */ `
    type Repository {
      provider: RepositoryProvider
      url: String!
    }
    interface RepositoryProvider {
      name: String!
      webhookUrl: String
    }
    ${Object.entries(settings).map(sdlOfHost).join('')}
  `,
  resolvers: {
    Repository: { provider: (source: unknown) => providerOf(rowOf(rowOf(source)['provider'])) },
  },
}

function providerOf({ id, settings: given, webhook_url }: Row) {
  const type = typesById[String(id)] ?? 'Unknown'
  const shown = Object.entries(rowOf(given)).map(([name, value]) => [
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return {
    __typename: `RepositoryProvider${type}`,
    name: type,
    settings: Object.fromEntries(shown) as Row,
    webhookUrl: webhook_url,
  }
}
