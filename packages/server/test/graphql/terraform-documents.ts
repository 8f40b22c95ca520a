// The operations of the Terraform provider, by resource, with the fields that it reads.

const pipelineTeam = /* GraphQL */ `
  fragment PipelineTeam on TeamPipelineConnection {
    pageInfo {
      endCursor
      hasNextPage
    }
    count
    edges {
      cursor
      node {
        id
        accessLevel
        team {
          id
        }
      }
    }
  }
`

const pipelineFields = /* GraphQL */ `
  fragment PipelineFields on Pipeline {
    id
    pipelineUuid: uuid
    allowRebuilds
    badgeURL
    branchConfiguration
    cancelIntermediateBuilds
    cancelIntermediateBuildsBranchFilter
    cloneMirrorUrl
    cluster {
      id
      name
    }
    color
    defaultBranch
    defaultTimeoutInMinutes
    emoji
    maximumTimeoutInMinutes
    description
    name
    repository {
      url
    }
    pipelineTemplate {
      id
    }
    skipIntermediateBuilds
    skipIntermediateBuildsBranchFilter
    slug
    steps {
      yaml
    }
    tags {
      label
    }
    teams(first: 5, order: NAME) {
      ...PipelineTeam
    }
    archived
    visibility
    webhookURL
  }
  ${pipelineTeam}
`

const filter = 'filterCondition filterEnabled'
const builds = `buildBranches buildPullRequests buildTags ${filter}`
const github = `
  ${builds} buildIssues buildCheckRunCompleted buildCreateEvent buildDeploymentStatusCreated
  buildPullRequestConvertedToDraft buildPullRequestDequeued buildPullRequestReopened
  buildPullRequestReviewCommentCreated buildPullRequestReviewRequested buildPullRequestReviewDismissed
  buildPullRequestReviewSubmitted buildReleaseCreated buildReleasePublished buildReleaseReleased
  buildIssueCommentCreated buildMergeGroupChecksRequested buildPullRequestBaseBranchChanged
  buildPullRequestForks buildPullRequestLabelsChanged buildPullRequestMergeCommits
  buildPullRequestReadyForReview cancelDeletedBranchBuilds cancelWhenMergeGroupDestroyed
  ignoreDefaultBranchPullRequests issueCommentCommandWord issueCommentMatchMode
  prefixPullRequestForkBranchNames publishBlockedAsPending publishCommitStatus publishCommitStatusPerStep
  pullRequestBranchFilterConfiguration pullRequestBranchFilterEnabled reviewCommentCommandWord
  reviewCommentMatchMode separatePullRequestStatuses skipBuildsForExistingCommits
  skipPullRequestBuildsForExistingCommits triggerMode useMergeGroupBaseCommitForGitDiffBase
  useStepKeyAsCommitStatus
`

export const pipelineDocuments = {
  get: /* GraphQL */ `
    query getPipeline($slug: ID!) {
      pipeline(slug: $slug) {
        ...PipelineFields
      }
    }
    ${pipelineFields}
  `,
  providerSettings: /* GraphQL */ `
    query getPipelineProviderSettings($id: ID!) {
      node(id: $id) { ... on Pipeline { id repository { ...RepositoryProviderSettingsFields } } }
    }
    fragment RepositoryProviderSettingsFields on Repository {
      provider {
        __typename
        ... on RepositoryProviderGithub { settings { ${github} } }
        ... on RepositoryProviderGithubEnterprise { settings { ${github} } }
        ... on RepositoryProviderBitbucket {
          settings {
            ${builds}
            canceldeletedbranchbuilds: cancelDeletedBranchBuilds
            ignoreDefaultBranchPullRequests publishCommitStatus publishCommitStatusPerStep
            pullRequestBranchFilterConfiguration pullRequestBranchFilterEnabled
            skipbuildsforexistingcommits: skipBuildsForExistingCommits
            skipPullRequestBuildsForExistingCommits
          }
        }
        ... on RepositoryProviderBitbucketServer { settings { ${builds} } }
        ... on RepositoryProviderGitlab { settings { ${filter} } }
        ... on RepositoryProviderGitlabCommunity { settings { ${filter} } }
        ... on RepositoryProviderGitlabEnterprise { settings { ${filter} } }
        ... on RepositoryProviderBeanstalk { settings { ${filter} } }
        ... on RepositoryProviderCodebase { settings { ${filter} } }
        ... on RepositoryProviderCursorOrigin { settings { ${builds} publishCommitStatus } }
        ... on RepositoryProviderUnknown { settings { ${filter} } }
      }
    }
  `,
  teams: /* GraphQL */ `
    query getPipelineTeams($slug: ID!, $cursor: String) {
      pipeline(slug: $slug) {
        teams(order: NAME, first: 50, after: $cursor) {
          ...PipelineTeam
        }
      }
    }
    ${pipelineTeam}
  `,
  teamIds: /* GraphQL */ `
    query getPipelineTeamIds($slug: ID!, $search: String!, $cursor: String) {
      pipeline(slug: $slug) {
        id
        teams(first: 50, after: $cursor, search: $search, order: RELEVANCE) {
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              id
              team {
                slug
              }
            }
          }
        }
      }
    }
  `,
  create: /* GraphQL */ `
    mutation createPipeline($input: PipelineCreateInput!) {
      pipelineCreate(input: $input) {
        pipeline {
          ...PipelineFields
        }
      }
    }
    ${pipelineFields}
  `,
  update: /* GraphQL */ `
    mutation updatePipeline($input: PipelineUpdateInput!) {
      pipelineUpdate(input: $input) {
        pipeline {
          ...PipelineFields
        }
      }
    }
    ${pipelineFields}
  `,
  delete: /* GraphQL */ `
    mutation deletePipeline($id: ID!) {
      pipelineDelete(input: { id: $id }) {
        clientMutationId
      }
    }
  `,
  archive: /* GraphQL */ `
    mutation archivePipeline($id: ID!) {
      pipelineArchive(input: { id: $id }) {
        clientMutationId
      }
    }
  `,
  unarchive: /* GraphQL */ `
    mutation unarchivePipeline($id: ID!) {
      pipelineUnarchive(input: { id: $id }) {
        clientMutationId
      }
    }
  `,
  id: /* GraphQL */ `
    query getPipelineId($slug: ID!) {
      pipeline(slug: $slug) {
        id
      }
    }
  `,
  list: /* GraphQL */ `
    query GetOrganizationPipelines(
      $slug: ID!
      $cursor: String
      $search: String
      $repository: PipelineRepositoryInput
      $cluster: ID
      $archived: Boolean
      $tags: [String!]
    ) {
      organization(slug: $slug) {
        pipelines(
          first: 500
          after: $cursor
          search: $search
          repository: $repository
          cluster: $cluster
          archived: $archived
          tags: $tags
        ) {
          count
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              id
              uuid
              slug
              name
              description
              defaultBranch
              archived
              repository {
                url
              }
              cluster {
                id
              }
            }
          }
        }
      }
    }
  `,
}

const scheduleFields = /* GraphQL */ `
  fragment PipelineScheduleFragment on PipelineSchedule {
    id
    label
    cronline
    message
    commit
    branch
    env
    enabled
  }
`

const scheduleVariables = `
  $label: String!, $cronline: String!, $message: String!, $commit: String!, $branch: String!, $env: String!,
  $enabled: Boolean!
`
const scheduleInput = `
  label: $label, cronline: $cronline, message: $message, commit: $commit, branch: $branch, env: $env,
  enabled: $enabled
`

export const scheduleDocuments = {
  create: /* GraphQL */ `
    mutation createPipelineSchedule($pipelineId: ID!, ${scheduleVariables}) {
      pipelineScheduleCreate(input: { pipelineID: $pipelineId, ${scheduleInput} }) {
        pipeline { id }
        pipelineScheduleEdge { node { ...PipelineScheduleFragment } }
      }
    }
    ${scheduleFields}
  `,
  update: /* GraphQL */ `
    mutation updatePipelineSchedule($id: ID!, ${scheduleVariables}) {
      pipelineScheduleUpdate(input: { id: $id, ${scheduleInput} }) {
        pipelineSchedule { ...PipelineScheduleFragment }
      }
    }
    ${scheduleFields}
  `,
  delete: /* GraphQL */ `
    mutation deletePipelineSchedule($id: ID!) {
      pipelineScheduleDelete(input: { id: $id }) {
        deletedPipelineScheduleID
      }
    }
  `,
  search: /* GraphQL */ `
    query getPipelineScheduleId($org: ID!, $search: String) {
      organization(slug: $org) {
        pipelines(first: 5, search: $search) {
          edges {
            node {
              name
              schedules {
                edges {
                  node {
                    id
                    uuid
                    cronline
                  }
                }
              }
            }
          }
        }
      }
    }
  `,
}

const teamFields = /* GraphQL */ `
  fragment TeamFields on Team {
    id
    uuid
    name
    description
    slug
    privacy
    isDefaultTeam
    defaultMemberRole
    membersCanCreatePipelines
  }
`
const teamVariables = `
  $name: String!, $description: String, $privacy: TeamPrivacy!, $isDefaultTeam: Boolean!,
  $defaultMemberRole: TeamMemberRole!, $membersCanCreatePipelines: Boolean
`
const teamInput = `
  name: $name, description: $description, privacy: $privacy, isDefaultTeam: $isDefaultTeam,
  defaultMemberRole: $defaultMemberRole, membersCanCreatePipelines: $membersCanCreatePipelines
`

export const teamDocuments = {
  get: /* GraphQL */ `
    query GetTeamFromSlug($slug: ID!) {
      team(slug: $slug) {
        ...TeamFields
      }
    }
    ${teamFields}
  `,
  list: /* GraphQL */ `
    query GetOrganizationTeams($slug: ID!, $cursor: String) {
      organization(slug: $slug) {
        teams(first: 500, after: $cursor) {
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              id
              uuid
              name
              description
              slug
              privacy
              isDefaultTeam
              defaultMemberRole
              membersCanCreatePipelines
            }
          }
        }
      }
    }
  `,
  create: /* GraphQL */ `
    mutation teamCreate($organizationID: ID!, ${teamVariables}) {
      teamCreate(input: { organizationID: $organizationID, ${teamInput} }) { teamEdge { node { ...TeamFields } } }
    }
    ${teamFields}
  `,
  update: /* GraphQL */ `
    mutation teamUpdate($id: ID!, ${teamVariables}) {
      teamUpdate(input: { id: $id, ${teamInput} }) { team { ...TeamFields } }
    }
    ${teamFields}
  `,
  delete: /* GraphQL */ `
    mutation teamDelete($id: ID!) {
      teamDelete(input: { id: $id }) {
        deletedTeamID
      }
    }
  `,
}

const teamMemberFields = /* GraphQL */ `
  fragment TeamMemberValues on TeamMember {
    id
    uuid
    team {
      id
    }
    user {
      id
    }
    role
  }
`

export const teamMemberDocuments = {
  create: /* GraphQL */ `
    mutation createTeamMember($teamID: ID!, $userID: ID!, $role: TeamMemberRole) {
      teamMemberCreate(input: { teamID: $teamID, userID: $userID, role: $role }) {
        teamMemberEdge {
          node {
            ...TeamMemberValues
          }
        }
      }
    }
    ${teamMemberFields}
  `,
  update: /* GraphQL */ `
    mutation updateTeamMember($id: ID!, $role: TeamMemberRole!) {
      teamMemberUpdate(input: { id: $id, role: $role }) {
        teamMember {
          ...TeamMemberValues
        }
      }
    }
    ${teamMemberFields}
  `,
  delete: /* GraphQL */ `
    mutation deleteTeamMember($id: ID!) {
      teamMemberDelete(input: { id: $id }) {
        clientMutationId
      }
    }
  `,
}

const teamPipelineFields = /* GraphQL */ `
  fragment TeamPipelineFields on TeamPipeline {
    id
    uuid
    pipelineAccessLevel: accessLevel
    team {
      id
    }
    pipeline {
      id
    }
  }
`

export const teamPipelineDocuments = {
  create: /* GraphQL */ `
    mutation createTeamPipeline($teamID: ID!, $pipelineID: ID!, $accessLevel: PipelineAccessLevels) {
      teamPipelineCreate(input: { teamID: $teamID, pipelineID: $pipelineID, accessLevel: $accessLevel }) {
        teamPipelineEdge {
          node {
            ...TeamPipelineFields
          }
        }
      }
    }
    ${teamPipelineFields}
  `,
  update: /* GraphQL */ `
    mutation updateTeamPipeline($id: ID!, $accessLevel: PipelineAccessLevels!) {
      teamPipelineUpdate(input: { id: $id, accessLevel: $accessLevel }) {
        teamPipeline {
          ...TeamPipelineFields
        }
      }
    }
    ${teamPipelineFields}
  `,
  delete: /* GraphQL */ `
    mutation deleteTeamPipeline($id: ID!) {
      teamPipelineDelete(input: { id: $id }) {
        deletedTeamPipelineID
        clientMutationId
      }
    }
  `,
}

const clusterFields = /* GraphQL */ `
  fragment ClusterFields on Cluster {
    id
    uuid
    name
    description
    emoji
    color
  }
`
const clusterVariables = '$name: String!, $description: String, $emoji: String, $color: String'
const clusterInput = 'name: $name, description: $description, emoji: $emoji, color: $color'

export const clusterDocuments = {
  get: /* GraphQL */ `
    query getCluster($orgSlug: ID!, $id: ID!) {
      organization(slug: $orgSlug) {
        cluster(id: $id) {
          ...ClusterFields
        }
      }
    }
    ${clusterFields}
  `,
  list: /* GraphQL */ `
    query GetOrganizationClusters($slug: ID!, $cursor: String) {
      organization(slug: $slug) {
        clusters(first: 500, after: $cursor) {
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              id
              uuid
              name
              description
              emoji
              color
              defaultQueue {
                id
                uuid
                key
                description
              }
            }
          }
        }
      }
    }
  `,
  create: /* GraphQL */ `
    mutation createCluster($organizationId: ID!, ${clusterVariables}) {
      clusterCreate(input: { organizationId: $organizationId, ${clusterInput} }) {
        clientMutationId
        cluster { ...ClusterFields }
      }
    }
    ${clusterFields}
  `,
  update: /* GraphQL */ `
    mutation updateCluster($organizationId: ID!, $id: ID!, ${clusterVariables}) {
      clusterUpdate(input: { organizationId: $organizationId, id: $id, ${clusterInput} }) {
        clientMutationId
        cluster { ...ClusterFields }
      }
    }
    ${clusterFields}
  `,
  setDefaultQueue: /* GraphQL */ `
    mutation setClusterDefaultQueue($organizationId: ID!, $id: ID!, $queueId: ID!) {
      clusterUpdate(input: { organizationId: $organizationId, id: $id, defaultQueueId: $queueId }) {
        cluster {
          id
          defaultQueue {
            id
            key
          }
        }
      }
    }
  `,
  delete: /* GraphQL */ `
    mutation deleteCluster($organizationId: ID!, $id: ID!) {
      clusterDelete(input: { organizationId: $organizationId, id: $id }) {
        clientMutationId
      }
    }
  `,
}

const queueFields = /* GraphQL */ `
  fragment ClusterQueueValues on ClusterQueue {
    id
    uuid
    key
    description
    cluster {
      id
      uuid
    }
    hosted
    hostedAgents {
      ...HostedAgentsQueueSettingsValues
    }
  }
  fragment HostedAgentsQueueSettingsValues on HostedAgentQueueSettings {
    instanceShape {
      architecture
      machineType
      memory
      name
      size
      vcpu
    }
    platformSettings {
      linux {
        agentImageRef
      }
      macos {
        xcodeVersion
        macosVersion
      }
    }
  }
`
const pausedFields = 'dispatchPaused dispatchPausedAt dispatchPausedBy { id } dispatchPausedNote'

export const queueDocuments = {
  list: /* GraphQL */ `
    query getClusterQueues($orgSlug: ID!, $id: ID!, $cursor: String) {
      organization(slug: $orgSlug) {
        cluster(id: $id) {
          queues(order: KEY, first: 100, after: $cursor) {
            pageInfo { endCursor hasNextPage }
            edges { node { ...ClusterQueueValues ${pausedFields} } }
          }
        }
      }
    }
    ${queueFields}
  `,
  node: /* GraphQL */ `
    query getClusterQueueByNode($id: ID!) {
      node(id: $id) { ... on ClusterQueue { ...ClusterQueueValues ${pausedFields} } }
    }
    ${queueFields}
  `,
  create: /* GraphQL */ `
    mutation createClusterQueue(
      $organizationId: ID!
      $clusterId: ID!
      $key: String!
      $description: String
      $hostedAgents: HostedAgentsQueueSettingsCreateInput
    ) {
      clusterQueueCreate(
        input: {
          organizationId: $organizationId
          clusterId: $clusterId
          key: $key
          description: $description
          hostedAgents: $hostedAgents
        }
      ) {
        clusterQueue {
          ...ClusterQueueValues
        }
      }
    }
    ${queueFields}
  `,
  update: /* GraphQL */ `
    mutation updateClusterQueue(
      $organizationId: ID!, $id: ID!, $description: String, $hostedAgents: HostedAgentsQueueSettingsUpdateInput
    ) {
      clusterQueueUpdate(
        input: { organizationId: $organizationId, id: $id, description: $description, hostedAgents: $hostedAgents }
      ) { clusterQueue { ...ClusterQueueValues ${pausedFields} } }
    }
    ${queueFields}
  `,
  delete: /* GraphQL */ `
    mutation deleteClusterQueue($organizationId: ID!, $id: ID!) {
      clusterQueueDelete(input: { organizationId: $organizationId, id: $id }) {
        clientMutationId
      }
    }
  `,
  pause: /* GraphQL */ `
    mutation pauseDispatchClusterQueue($id: ID!) {
      clusterQueuePauseDispatch(input: { id: $id }) {
        clientMutationId
      }
    }
  `,
  resume: /* GraphQL */ `
    mutation resumeDispatchClusterQueue($id: ID!) {
      clusterQueueResumeDispatch(input: { id: $id }) {
        clientMutationId
      }
    }
  `,
}

const tokenFields = /* GraphQL */ `
  fragment ClusterAgentTokenValues on ClusterToken {
    allowedIpAddresses
    cluster {
      id
      uuid
    }
    description
    id
    uuid
  }
`

export const tokenDocuments = {
  list: /* GraphQL */ `
    query getClusterAgentTokens($orgSlug: ID!, $id: ID!) {
      organization(slug: $orgSlug) {
        cluster(id: $id) {
          agentTokens(first: 50) {
            edges {
              node {
                ...ClusterAgentTokenValues
              }
            }
          }
        }
      }
    }
    ${tokenFields}
  `,
  create: /* GraphQL */ `
    mutation createClusterAgentToken(
      $organizationId: ID!
      $clusterId: ID!
      $description: String!
      $allowedIpAddresses: String
    ) {
      clusterAgentTokenCreate(
        input: {
          organizationId: $organizationId
          clusterId: $clusterId
          description: $description
          allowedIpAddresses: $allowedIpAddresses
        }
      ) {
        clusterAgentToken {
          ...ClusterAgentTokenValues
        }
        tokenValue
      }
    }
    ${tokenFields}
  `,
  update: /* GraphQL */ `
    mutation updateClusterAgentToken(
      $organizationId: ID!
      $id: ID!
      $description: String!
      $allowedIpAddresses: String
    ) {
      clusterAgentTokenUpdate(
        input: {
          organizationId: $organizationId
          id: $id
          description: $description
          allowedIpAddresses: $allowedIpAddresses
        }
      ) {
        clusterAgentToken {
          ...ClusterAgentTokenValues
        }
      }
    }
    ${tokenFields}
  `,
  revoke: /* GraphQL */ `
    mutation revokeClusterAgentToken($organizationId: ID!, $id: ID!) {
      clusterAgentTokenRevoke(input: { organizationId: $organizationId, id: $id }) {
        deletedClusterAgentTokenId
      }
    }
  `,
}

const templateFields = /* GraphQL */ `
  fragment PipelineTemplateFields on PipelineTemplate {
    id
    uuid
    available
    configuration
    description
    name
  }
`

export const templateDocuments = {
  create: /* GraphQL */ `
    mutation createPipelineTemplate(
      $organizationId: ID!
      $name: String!
      $configuration: String!
      $description: String
      $available: Boolean
    ) {
      pipelineTemplateCreate(
        input: {
          organizationId: $organizationId
          name: $name
          configuration: $configuration
          description: $description
          available: $available
        }
      ) {
        pipelineTemplate {
          ...PipelineTemplateFields
        }
      }
    }
    ${templateFields}
  `,
  update: /* GraphQL */ `
    mutation updatePipelineTemplate(
      $organizationId: ID!
      $id: ID!
      $name: String
      $configuration: String
      $description: String
      $available: Boolean
    ) {
      pipelineTemplateUpdate(
        input: {
          organizationId: $organizationId
          id: $id
          name: $name
          configuration: $configuration
          description: $description
          available: $available
        }
      ) {
        pipelineTemplate {
          ...PipelineTemplateFields
        }
      }
    }
    ${templateFields}
  `,
  delete: /* GraphQL */ `
    mutation deletePipelineTemplate($organizationId: ID!, $id: ID!) {
      pipelineTemplateDelete(input: { organizationId: $organizationId, id: $id }) {
        clientMutationId
      }
    }
  `,
  list: /* GraphQL */ `
    query getPipelineTemplates($slug: ID!, $cursor: String) {
      organization(slug: $slug) {
        pipelineTemplates(first: 50, after: $cursor) {
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              ...PipelineTemplateFields
            }
          }
        }
      }
    }
    ${templateFields}
  `,
}

const ruleFields = /* GraphQL */ `
  fragment OrganizationRuleFields on Rule {
    id
    uuid
    type
    sourceType
    targetType
    effect
    action
    source {
      ... on Pipeline {
        uuid
      }
    }
    target {
      ... on Pipeline {
        uuid
      }
    }
  }
`

export const ruleDocuments = {
  create: /* GraphQL */ `
    mutation createOrganizationRule($organizationId: ID!, $ruleType: String!, $value: JSON!) {
      ruleCreate(input: { organizationId: $organizationId, type: $ruleType, value: $value }) {
        rule {
          ...OrganizationRuleFields
        }
      }
    }
    ${ruleFields}
  `,
  delete: /* GraphQL */ `
    mutation deleteOrganizationRule($organizationId: ID!, $id: ID!) {
      ruleDelete(input: { organizationId: $organizationId, id: $id }) {
        clientMutationId
      }
    }
  `,
}

export const organizationDocuments = {
  get: /* GraphQL */ `
    query getOrganization($slug: ID!) {
      organization(slug: $slug) {
        allowedApiIpAddresses
        id
        uuid
        membersRequireTwoFactorAuthentication
      }
    }
  `,
  setIpAddresses: /* GraphQL */ `
    mutation setApiIpAddresses($organizationID: ID!, $ipAddresses: String!) {
      organizationApiIpAllowlistUpdate(
        input: { organizationID: $organizationID, ipAddresses: $ipAddresses }
      ) {
        organization {
          allowedApiIpAddresses
          id
          uuid
        }
      }
    }
  `,
  member: /* GraphQL */ `
    query GetOrganizationMemberByEmail($slug: ID!, $email: String) {
      organization(slug: $slug) {
        id
        members(first: 1, email: $email) {
          edges {
            node {
              user {
                id
                uuid
                name
                email
              }
            }
          }
        }
      }
    }
  `,
  members: /* GraphQL */ `
    query GetOrganizationMembers(
      $slug: ID!
      $cursor: String
      $team: TeamSelector
      $role: [OrganizationMemberRole!]
    ) {
      organization(slug: $slug) {
        id
        members(first: 500, after: $cursor, team: $team, role: $role) {
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              user {
                id
                uuid
                name
                email
              }
            }
          }
        }
      }
    }
  `,
}

/** One query for all types. */
export const nodeDocument = /* GraphQL */ `
  query getNode($id: ID!) {
    node(id: $id) {
      __typename
      ... on ClusterToken {
        ...ClusterAgentTokenValues
      }
      ... on ClusterQueue {
        ...ClusterQueueValues
      }
      ... on Cluster {
        ...ClusterFields
      }
      ... on Pipeline {
        ...PipelineFields
      }
      ... on PipelineSchedule {
        ...PipelineScheduleFragment
        pipeline {
          id
        }
      }
      ... on PipelineTemplate {
        ...PipelineTemplateFields
      }
      ... on Rule {
        ...OrganizationRuleFields
      }
      ... on Team {
        ...TeamFields
      }
      ... on TeamMember {
        ...TeamMemberValues
      }
      ... on TeamPipeline {
        ...TeamPipelineFields
      }
      ... on TeamSuite {
        id
        teamSuiteUuid: uuid
        accessLevel
        team {
          id
        }
        suite {
          id
        }
      }
      ... on Organization {
        id
        slug
      }
    }
  }
  ${tokenFields}
  ${queueFields}
  ${clusterFields}
  ${pipelineFields}
  ${scheduleFields}
  ${templateFields}
  ${ruleFields}
  ${teamFields}
  ${teamMemberFields}
  ${teamPipelineFields}
`
