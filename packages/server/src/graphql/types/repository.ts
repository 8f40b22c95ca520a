// The host of a pipeline's repository and its settings, as `provider` of REST has them.
import type { Address } from '../addresses.ts'
import { embedded, from } from '../fields.ts'
import { Node } from '../node.ts'
import { rowOf, type Row } from '../rest.ts'
import type { Fields, Part } from '../table.ts'

const flags = (names: string): Fields =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, 'Boolean']))

const filter: Fields = { filterCondition: 'String', filterEnabled: 'Boolean' }
const builds: Fields = { ...filter, ...flags('buildBranches buildPullRequests buildTags') }
const bitbucket: Fields = {
  ...builds,
  ...flags(`cancelDeletedBranchBuilds ignoreDefaultBranchPullRequests publishCommitStatus
    publishCommitStatusPerStep pullRequestBranchFilterEnabled skipBuildsForExistingCommits
    skipPullRequestBuildsForExistingCommits`),
  pullRequestBranchFilterConfiguration: 'String',
}
const github: Fields = {
  ...bitbucket,
  ...flags(`buildPullRequestBaseBranchChanged buildPullRequestConvertedToDraft buildPullRequestDequeued
    buildPullRequestForks buildPullRequestLabelsChanged buildPullRequestMergeCommits
    buildPullRequestReadyForReview buildPullRequestReopened buildPullRequestReviewCommentCreated
    buildPullRequestReviewDismissed buildPullRequestReviewRequested buildPullRequestReviewSubmitted
    prefixPullRequestForkBranchNames separatePullRequestStatuses`),
  ...flags(`buildCheckRunCompleted buildCreateEvent buildDeploymentStatusCreated buildIssueCommentCreated buildIssues
    buildReleaseCreated buildReleasePublished buildReleaseReleased publishBlockedAsPending useStepKeyAsCommitStatus`),
  ...flags(`buildMergeGroupChecksRequested cancelWhenMergeGroupDestroyed
    useMergeGroupBaseCommitForGitDiffBase`),
  issueCommentCommandWord: 'String',
  issueCommentMatchMode: 'String',
  reviewCommentCommandWord: 'String',
  reviewCommentMatchMode: 'String',
  triggerMode: 'String',
}

/** Hosts by the end of their type. Clients name all of them. */
const settings: Readonly<Record<string, Fields>> = {
  Beanstalk: filter,
  Bitbucket: bitbucket,
  BitbucketServer: builds,
  Codebase: filter,
  CursorOrigin: { ...builds, publishCommitStatus: 'Boolean' },
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

const providerOf = (host: string) => `RepositoryProvider${host}`

const typeOfProvider = (provider: Row): string => providerOf(typesById[String(provider['id'])] ?? 'Unknown')

/** `provider` is that of a pipeline in REST. */
export const webhookOf = (address: Address, provider: Row): Node | null =>
  provider['webhook_id'] ? new Node(`${typeOfProvider(provider)}Webhook`, address, provider) : null

const webhookFields: Fields = {
  externalId: from('webhook_id', 'String!'),
  url: from('webhook_url', 'String!'),
}

const typesOfHost = ([host, fields]: [string, Fields]): Array<[string, Fields]> => [
  [
    providerOf(host),
    {
      name: { type: 'String!', resolve: () => host },
      settings: embedded(`${providerOf(host)}Settings!`, 'settings'),
      webhook: {
        type: 'RepositoryProviderWebhook',
        description:
          'The webhook that was created here at the host. Null to those who may not edit the pipeline.',
        resolve: ({ address, known }) => webhookOf(address, known),
      },
      webhookUrl: 'String',
    },
  ],
  [`${providerOf(host)}Settings`, fields],
  [`${providerOf(host)}Webhook`, webhookFields],
]

const hosts = Object.keys(settings)

export const repositoryPart: Part = {
  interfaces: {
    RepositoryProvider: {
      fields: { name: 'String!', webhookUrl: 'String' },
      types: hosts.map(providerOf),
    },
    RepositoryProviderWebhook: {
      fields: webhookFields,
      types: hosts.map((host) => `${providerOf(host)}Webhook`),
    },
  },
  objects: {
    Repository: {
      provider: {
        type: 'RepositoryProvider',
        async resolve(pipeline) {
          const row = rowOf(await pipeline.get('provider'))
          return new Node(typeOfProvider(row), pipeline.address, row)
        },
      },
      url: from('repository', 'String!'),
    },
    ...Object.fromEntries(Object.entries(settings).flatMap(typesOfHost)),
  },
  descriptions: Object.fromEntries(
    hosts.map((host) => [`${providerOf(host)}Settings`, 'A setting that the host does not have is null.']),
  ),
}
