// All operations of the public Terraform provider: their names, variables and selected fields, sorted and with fragments written
// out. `versions` are those of the provider that send this form.

export const providerVersions = ['1.20.0', '1.27.1', '1.34.2', '1.38.0'] as const

type ProviderVersion = (typeof providerVersions)[number]

interface ProviderOperation {
  name: string
  versions: readonly ProviderVersion[]
  document: string
}

/** The newest form of an operation. */
export function providerDocument(name: string): string {
  const found = providerOperations.findLast((operation) => operation.name === name)
  if (found === undefined) throw new Error(`The provider has no operation ${name}.`)
  return found.document
}

export const providerOperations: readonly ProviderOperation[] = [
  {
    name: 'archivePipeline',
    versions: providerVersions,
    document: `
      mutation archivePipeline($id: ID!) { pipelineArchive(input: {id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'createAgentToken',
    versions: providerVersions,
    document: `
      mutation createAgentToken($description: String, $organizationId: ID!) { agentTokenCreate(input: {organizationID:
      $organizationId, description: $description}) { agentTokenEdge { node { description id uuid } } tokenValue } }
    `,
  },
  {
    name: 'createCluster',
    versions: providerVersions,
    document: `
      mutation createCluster($color: String, $description: String, $emoji: String, $name: String!, $organizationId:
      ID!) { clusterCreate(input: {organizationId: $organizationId, name: $name, description: $description, emoji:
      $emoji, color: $color}) { clientMutationId cluster { color defaultQueue { description id key uuid } description
      emoji id name uuid } } }
    `,
  },
  {
    name: 'createClusterAgentToken',
    versions: providerVersions,
    document: `
      mutation createClusterAgentToken($allowedIpAddresses: String, $clusterId: ID!, $description: String!,
      $organizationId: ID!) { clusterAgentTokenCreate(input: {organizationId: $organizationId, clusterId: $clusterId,
      description: $description, allowedIpAddresses: $allowedIpAddresses}) { clusterAgentToken { allowedIpAddresses
      cluster { id uuid } description id uuid } tokenValue } }
    `,
  },
  {
    name: 'createClusterQueue',
    versions: ['1.20.0'],
    document: `
      mutation createClusterQueue($clusterId: ID!, $description: String, $hostedAgents:
      HostedAgentsQueueSettingsCreateInput, $key: String!, $organizationId: ID!) { clusterQueueCreate(input:
      {organizationId: $organizationId, clusterId: $clusterId, key: $key, description: $description, hostedAgents:
      $hostedAgents}) { clusterQueue { cluster { id uuid } description hosted hostedAgents { instanceShape {
      architecture machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { xcodeVersion
      } } } id key uuid } } }
    `,
  },
  {
    name: 'createClusterQueue',
    versions: ['1.27.1', '1.34.2', '1.38.0'],
    document: `
      mutation createClusterQueue($clusterId: ID!, $description: String, $hostedAgents:
      HostedAgentsQueueSettingsCreateInput, $key: String!, $organizationId: ID!) { clusterQueueCreate(input:
      {organizationId: $organizationId, clusterId: $clusterId, key: $key, description: $description, hostedAgents:
      $hostedAgents}) { clusterQueue { cluster { id uuid } description hosted hostedAgents { instanceShape {
      architecture machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { macosVersion
      xcodeVersion } } } id key uuid } } }
    `,
  },
  {
    name: 'createOrganizationRule',
    versions: providerVersions,
    document: `
      mutation createOrganizationRule($description: String, $organizationId: ID!, $ruleType: String!, $value: JSON!) {
      ruleCreate(input: {organizationId: $organizationId, description: $description, type: $ruleType, value: $value})
      { rule { action description document effect id source { ... on Pipeline { uuid } } sourceType target { ... on
      Pipeline { uuid } } targetType type uuid } } }
    `,
  },
  {
    name: 'createPipeline',
    versions: ['1.20.0', '1.27.1'],
    document: `
      mutation createPipeline($input: PipelineCreateInput!) { pipelineCreate(input: $input) { pipeline { allowRebuilds
      badgeURL branchConfiguration cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id name }
      color defaultBranch defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate {
      id } pipelineUuid: uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps
      { yaml } tags { label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } }
      } pageInfo { endCursor hasNextPage } } webhookURL } } }
    `,
  },
  {
    name: 'createPipeline',
    versions: ['1.34.2'],
    document: `
      mutation createPipeline($input: PipelineCreateInput!) { pipelineCreate(input: $input) { pipeline { allowRebuilds
      archived badgeURL branchConfiguration cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id
      name } color defaultBranch defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name
      pipelineTemplate { id } pipelineUuid: uuid repository { url } skipIntermediateBuilds
      skipIntermediateBuildsBranchFilter slug steps { yaml } tags { label } teams(first: 5, order: NAME) { count edges
      { cursor node { accessLevel id team { id } } } pageInfo { endCursor hasNextPage } } visibility webhookURL } } }
    `,
  },
  {
    name: 'createPipeline',
    versions: ['1.38.0'],
    document: `
      mutation createPipeline($input: PipelineCreateInput!) { pipelineCreate(input: $input) { pipeline { allowRebuilds
      archived badgeURL branchConfiguration cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter
      cloneMirrorUrl cluster { id name } color defaultBranch defaultTimeoutInMinutes description emoji id
      maximumTimeoutInMinutes name pipelineTemplate { id } pipelineUuid: uuid repository { url }
      skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps { yaml } tags { label } teams(first: 5,
      order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo { endCursor hasNextPage } }
      visibility webhookURL } } }
    `,
  },
  {
    name: 'createPipelineSchedule',
    versions: providerVersions,
    document: `
      mutation createPipelineSchedule($branch: String, $commit: String, $cronline: String, $enabled: Boolean, $env:
      String, $label: String, $message: String, $pipelineId: ID!) { pipelineScheduleCreate(input: {pipelineID:
      $pipelineId, label: $label, cronline: $cronline, message: $message, commit: $commit, branch: $branch, env: $env,
      enabled: $enabled}) { pipeline { id } pipelineScheduleEdge { node { branch commit cronline enabled env id label
      message pipeline { id } uuid } } } }
    `,
  },
  {
    name: 'createPipelineTemplate',
    versions: providerVersions,
    document: `
      mutation createPipelineTemplate($available: Boolean, $configuration: String!, $description: String, $name:
      String!, $organizationId: ID!) { pipelineTemplateCreate(input: {organizationId: $organizationId, name: $name,
      configuration: $configuration, description: $description, available: $available}) { pipelineTemplate { available
      configuration description id name uuid } } }
    `,
  },
  {
    name: 'createPipelineWebhook',
    versions: ['1.34.2', '1.38.0'],
    document: `
      mutation createPipelineWebhook($pipelineId: ID!) { pipelineCreateWebhook(input: {id: $pipelineId}) { pipeline {
      id repository { url } } webhook { externalId url } } }
    `,
  },
  {
    name: 'createTeamMember',
    versions: providerVersions,
    document: `
      mutation createTeamMember($role: TeamMemberRole, $teamID: ID!, $userID: ID!) { teamMemberCreate(input: {teamID:
      $teamID, userID: $userID, role: $role}) { teamMemberEdge { node { id role team { id } user { id } uuid } } } }
    `,
  },
  {
    name: 'createTeamPipeline',
    versions: providerVersions,
    document: `
      mutation createTeamPipeline($accessLevel: PipelineAccessLevels, $pipelineID: ID!, $teamID: ID!) {
      teamPipelineCreate(input: {teamID: $teamID, pipelineID: $pipelineID, accessLevel: $accessLevel}) {
      teamPipelineEdge { node { id pipeline { id } pipelineAccessLevel: accessLevel team { id } uuid } } } }
    `,
  },
  {
    name: 'createTestSuiteTeam',
    versions: providerVersions,
    document: `
      mutation createTestSuiteTeam($accessLevel: SuiteAccessLevels!, $suiteId: ID!, $teamId: ID!) {
      teamSuiteCreate(input: {teamID: $teamId, suiteID: $suiteId, accessLevel: $accessLevel}) { suite { teams(first:
      50, order: NAME) { edges { node { id team { id } uuid } } } } teamSuite { accessLevel id suite { id } team { id
      } teamSuiteUuid: uuid } } }
    `,
  },
  {
    name: 'deleteBanner',
    versions: providerVersions,
    document: `
      mutation deleteBanner($organizationId: ID!) { organizationBannerDelete(input: {organizationId: $organizationId})
      { clientMutationId } }
    `,
  },
  {
    name: 'deleteCluster',
    versions: providerVersions,
    document: `
      mutation deleteCluster($id: ID!, $organizationId: ID!) { clusterDelete(input: {organizationId: $organizationId,
      id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'deleteClusterQueue',
    versions: providerVersions,
    document: `
      mutation deleteClusterQueue($id: ID!, $organizationId: ID!) { clusterQueueDelete(input: {organizationId:
      $organizationId, id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'deleteOrganizationRule',
    versions: providerVersions,
    document: `
      mutation deleteOrganizationRule($id: ID!, $organizationId: ID!) { ruleDelete(input: {organizationId:
      $organizationId, id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'deletePipeline',
    versions: providerVersions,
    document: `
      mutation deletePipeline($id: ID!) { pipelineDelete(input: {id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'deletePipelineSchedule',
    versions: providerVersions,
    document: `
      mutation deletePipelineSchedule($id: ID!) { pipelineScheduleDelete(input: {id: $id}) { deletedPipelineScheduleID
      } }
    `,
  },
  {
    name: 'deletePipelineTemplate',
    versions: providerVersions,
    document: `
      mutation deletePipelineTemplate($id: ID!, $organizationId: ID!) { pipelineTemplateDelete(input: {organizationId:
      $organizationId, id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'deletePipelineWebhook',
    versions: ['1.34.2', '1.38.0'],
    document: `
      mutation deletePipelineWebhook($pipelineId: ID!, $repository: String) { pipelineDeleteWebhook(input: {id:
      $pipelineId, repository: $repository}) { deletedWebhookExternalId pipeline { id } } }
    `,
  },
  {
    name: 'deleteTeamMember',
    versions: providerVersions,
    document: `
      mutation deleteTeamMember($id: ID!) { teamMemberDelete(input: {id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'deleteTeamPipeline',
    versions: providerVersions,
    document: `
      mutation deleteTeamPipeline($id: ID!) { teamPipelineDelete(input: {id: $id}) { clientMutationId
      deletedTeamPipelineID } }
    `,
  },
  {
    name: 'deleteTestSuiteTeam',
    versions: providerVersions,
    document: `
      mutation deleteTestSuiteTeam($id: ID!) { teamSuiteDelete(input: {id: $id, force: true}) { deletedTeamSuiteID
      team { id } } }
    `,
  },
  {
    name: 'getAgentToken',
    versions: providerVersions,
    document: `
      query getAgentToken($slug: ID!) { agentToken(slug: $slug) { description id uuid } }
    `,
  },
  {
    name: 'getClusterAgentTokens',
    versions: providerVersions,
    document: `
      query getClusterAgentTokens($id: ID!, $orgSlug: ID!) { organization(slug: $orgSlug) { cluster(id: $id) {
      agentTokens(first: 50) { edges { node { allowedIpAddresses cluster { id uuid } description id uuid } } } } } }
    `,
  },
  {
    name: 'getClusterByName',
    versions: providerVersions,
    document: `
      query getClusterByName($cursor: String, $orgSlug: ID!) { organization(slug: $orgSlug) { clusters(after: $cursor,
      first: 50, order: NAME) { edges { node { color defaultQueue { description id key uuid } description emoji id
      name uuid } } pageInfo { endCursor hasNextPage } } } }
    `,
  },
  {
    name: 'getClusterQueueByNode',
    versions: ['1.27.1', '1.34.2', '1.38.0'],
    document: `
      query getClusterQueueByNode($id: ID!) { node(id: $id) { ... on ClusterQueue { cluster { id uuid } description
      dispatchPaused dispatchPausedAt dispatchPausedBy { id } dispatchPausedNote hosted hostedAgents { instanceShape {
      architecture machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { macosVersion
      xcodeVersion } } } id key uuid } } }
    `,
  },
  {
    name: 'getClusterQueues',
    versions: ['1.20.0'],
    document: `
      query getClusterQueues($cursor: String, $id: ID!, $orgSlug: ID!) { organization(slug: $orgSlug) { cluster(id:
      $id) { queues(after: $cursor, first: 100, order: KEY) { edges { node { cluster { id uuid } description
      dispatchPaused dispatchPausedAt dispatchPausedBy { id } dispatchPausedNote hosted hostedAgents { instanceShape {
      architecture machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { xcodeVersion
      } } } id key uuid } } pageInfo { endCursor hasNextPage } } } } }
    `,
  },
  {
    name: 'getClusterQueues',
    versions: ['1.27.1', '1.34.2', '1.38.0'],
    document: `
      query getClusterQueues($cursor: String, $id: ID!, $orgSlug: ID!) { organization(slug: $orgSlug) { cluster(id:
      $id) { queues(after: $cursor, first: 100, order: KEY) { edges { node { cluster { id uuid } description
      dispatchPaused dispatchPausedAt dispatchPausedBy { id } dispatchPausedNote hosted hostedAgents { instanceShape {
      architecture machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { macosVersion
      xcodeVersion } } } id key uuid } } pageInfo { endCursor hasNextPage } } } } }
    `,
  },
  {
    name: 'getNode',
    versions: ['1.20.0', '1.27.1'],
    document: `
      query getNode($id: ID!) { node(id: $id) { ... on Cluster { color defaultQueue { description id key uuid }
      description emoji id name uuid } ... on Pipeline { allowRebuilds badgeURL branchConfiguration
      cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id name } color defaultBranch
      defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate { id } pipelineUuid:
      uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps { yaml } tags {
      label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo {
      endCursor hasNextPage } } webhookURL } ... on PipelineTemplate { available configuration description id name
      uuid } ... on Rule { action description document effect id source { ... on Pipeline { uuid } } sourceType target
      { ... on Pipeline { uuid } } targetType type uuid } ... on Team { defaultMemberRole description id isDefaultTeam
      membersCanCreatePipelines name privacy slug uuid } ... on TeamMember { id role team { id } user { id } uuid }
      ... on TeamPipeline { id pipeline { id } pipelineAccessLevel: accessLevel team { id } uuid } ... on TeamSuite {
      accessLevel id suite { id } team { id } teamSuiteUuid: uuid } } }
    `,
  },
  {
    name: 'getNode',
    versions: ['1.34.2'],
    document: `
      query getNode($id: ID!) { node(id: $id) { ... on Cluster { color defaultQueue { description id key uuid }
      description emoji id name uuid } ... on Pipeline { allowRebuilds archived badgeURL branchConfiguration
      cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id name } color defaultBranch
      defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate { id } pipelineUuid:
      uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps { yaml } tags {
      label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo {
      endCursor hasNextPage } } visibility webhookURL } ... on PipelineTemplate { available configuration description
      id name uuid } ... on Rule { action description document effect id source { ... on Pipeline { uuid } }
      sourceType target { ... on Pipeline { uuid } } targetType type uuid } ... on Team { defaultMemberRole
      description id isDefaultTeam membersCanCreatePipelines membersCanCreateRegistries membersCanCreateSuites
      membersCanDestroyPackages membersCanDestroyRegistries name privacy slug uuid } ... on TeamMember { id role team
      { id } user { id } uuid } ... on TeamPipeline { id pipeline { id } pipelineAccessLevel: accessLevel team { id }
      uuid } ... on TeamSuite { accessLevel id suite { id } team { id } teamSuiteUuid: uuid } } }
    `,
  },
  {
    name: 'getNode',
    versions: ['1.38.0'],
    document: `
      query getNode($id: ID!) { node(id: $id) { ... on Cluster { color defaultQueue { description id key uuid }
      description emoji id name uuid } ... on Pipeline { allowRebuilds archived badgeURL branchConfiguration
      cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cloneMirrorUrl cluster { id name } color
      defaultBranch defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate { id }
      pipelineUuid: uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps {
      yaml } tags { label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } } }
      pageInfo { endCursor hasNextPage } } visibility webhookURL } ... on PipelineTemplate { available configuration
      description id name uuid } ... on Rule { action description document effect id source { ... on Pipeline { uuid }
      } sourceType target { ... on Pipeline { uuid } } targetType type uuid } ... on Team { defaultMemberRole
      description id isDefaultTeam membersCanCreatePipelines membersCanCreateRegistries membersCanCreateSuites
      membersCanDestroyPackages membersCanDestroyRegistries name privacy slug uuid } ... on TeamMember { id role team
      { id } user { id } uuid } ... on TeamPipeline { id pipeline { id } pipelineAccessLevel: accessLevel team { id }
      uuid } ... on TeamSuite { accessLevel id suite { id } team { id } teamSuiteUuid: uuid } } }
    `,
  },
  {
    name: 'getOrganization',
    versions: providerVersions,
    document: `
      query getOrganization($slug: ID!) { organization(slug: $slug) { allowedApiIpAddresses id
      membersRequireTwoFactorAuthentication uuid } }
    `,
  },
  {
    name: 'GetOrganizationClusters',
    versions: ['1.27.1', '1.34.2', '1.38.0'],
    document: `
      query GetOrganizationClusters($cursor: String, $slug: ID!) { organization(slug: $slug) { clusters(after:
      $cursor, first: 500) { edges { node { color defaultQueue { description id key uuid } description emoji id name
      uuid } } pageInfo { endCursor hasNextPage } } } }
    `,
  },
  {
    name: 'GetOrganizationMemberByEmail',
    versions: providerVersions,
    document: `
      query GetOrganizationMemberByEmail($email: String, $slug: ID!) { organization(slug: $slug) { members(email:
      $email, first: 1) { edges { node { user { email id name uuid } } } } } }
    `,
  },
  {
    name: 'GetOrganizationMembers',
    versions: providerVersions,
    document: `
      query GetOrganizationMembers($cursor: String, $slug: ID!) { organization(slug: $slug) { members(after: $cursor,
      first: 500) { edges { node { user { email id name uuid } } } pageInfo { endCursor hasNextPage } } } }
    `,
  },
  {
    name: 'getOrganizationRule',
    versions: providerVersions,
    document: `
      query getOrganizationRule($uuid: ID!) { rule(uuid: $uuid) { action description document effect id source { ...
      on Pipeline { uuid } } sourceType target { ... on Pipeline { uuid } } targetType type uuid } }
    `,
  },
  {
    name: 'GetOrganizationTeams',
    versions: ['1.27.1'],
    document: `
      query GetOrganizationTeams($cursor: String, $slug: ID!) { organization(slug: $slug) { teams(after: $cursor,
      first: 500) { edges { node { defaultMemberRole description id isDefaultTeam membersCanCreatePipelines name
      privacy slug uuid } } pageInfo { endCursor hasNextPage } } } }
    `,
  },
  {
    name: 'GetOrganizationTeams',
    versions: ['1.34.2', '1.38.0'],
    document: `
      query GetOrganizationTeams($cursor: String, $slug: ID!) { organization(slug: $slug) { teams(after: $cursor,
      first: 500) { edges { node { defaultMemberRole description id isDefaultTeam membersCanCreatePipelines
      membersCanCreateRegistries membersCanCreateSuites membersCanDestroyPackages membersCanDestroyRegistries name
      privacy slug uuid } } pageInfo { endCursor hasNextPage } } } }
    `,
  },
  {
    name: 'getOrganiztionBanner',
    versions: providerVersions,
    document: `
      query getOrganiztionBanner($orgSlug: ID!) { organization(slug: $orgSlug) { banners(first: 1) { edges { node { id
      message uuid } } } } }
    `,
  },
  {
    name: 'getPipeline',
    versions: ['1.20.0', '1.27.1'],
    document: `
      query getPipeline($slug: ID!) { pipeline(slug: $slug) { allowRebuilds badgeURL branchConfiguration
      cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id name } color defaultBranch
      defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate { id } pipelineUuid:
      uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps { yaml } tags {
      label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo {
      endCursor hasNextPage } } webhookURL } }
    `,
  },
  {
    name: 'getPipeline',
    versions: ['1.34.2'],
    document: `
      query getPipeline($slug: ID!) { pipeline(slug: $slug) { allowRebuilds archived badgeURL branchConfiguration
      cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id name } color defaultBranch
      defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate { id } pipelineUuid:
      uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps { yaml } tags {
      label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo {
      endCursor hasNextPage } } visibility webhookURL } }
    `,
  },
  {
    name: 'getPipeline',
    versions: ['1.38.0'],
    document: `
      query getPipeline($slug: ID!) { pipeline(slug: $slug) { allowRebuilds archived badgeURL branchConfiguration
      cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cloneMirrorUrl cluster { id name } color
      defaultBranch defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate { id }
      pipelineUuid: uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps {
      yaml } tags { label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } } }
      pageInfo { endCursor hasNextPage } } visibility webhookURL } }
    `,
  },
  {
    name: 'getPipelineProviderSettings',
    versions: ['1.38.0'],
    document: `
      query getPipelineProviderSettings($id: ID!) { node(id: $id) { ... on Pipeline { id repository { provider { ...
      on RepositoryProviderBeanstalk { settings { filterCondition filterEnabled } } ... on RepositoryProviderBitbucket
      { settings { buildBranches buildPullRequests buildTags canceldeletedbranchbuilds: cancelDeletedBranchBuilds
      filterCondition filterEnabled ignoreDefaultBranchPullRequests publishCommitStatus publishCommitStatusPerStep
      pullRequestBranchFilterConfiguration pullRequestBranchFilterEnabled skipPullRequestBuildsForExistingCommits
      skipbuildsforexistingcommits: skipBuildsForExistingCommits } } ... on RepositoryProviderBitbucketServer {
      settings { buildBranches buildPullRequests buildTags filterCondition filterEnabled } } ... on
      RepositoryProviderCodebase { settings { filterCondition filterEnabled } } ... on RepositoryProviderCursorOrigin
      { settings { buildBranches buildPullRequests buildTags filterCondition filterEnabled publishCommitStatus } } ...
      on RepositoryProviderGithub { settings { buildBranches buildCheckRunCompleted buildCreateEvent
      buildDeploymentStatusCreated buildIssueCommentCreated buildMergeGroupChecksRequested
      buildPullRequestBaseBranchChanged buildPullRequestConvertedToDraft buildPullRequestForks
      buildPullRequestLabelsChanged buildPullRequestMergeCommits buildPullRequestReadyForReview
      buildPullRequestReviewDismissed buildPullRequestReviewRequested buildPullRequestReviewSubmitted
      buildPullRequests buildReleaseCreated buildReleasePublished buildReleaseReleased buildTags
      cancelDeletedBranchBuilds cancelWhenMergeGroupDestroyed filterCondition filterEnabled
      ignoreDefaultBranchPullRequests issueCommentCommandWord issueCommentMatchMode prefixPullRequestForkBranchNames
      publishBlockedAsPending publishCommitStatus publishCommitStatusPerStep pullRequestBranchFilterConfiguration
      pullRequestBranchFilterEnabled separatePullRequestStatuses skipBuildsForExistingCommits
      skipPullRequestBuildsForExistingCommits triggerMode useMergeGroupBaseCommitForGitDiffBase
      useStepKeyAsCommitStatus } } ... on RepositoryProviderGithubEnterprise { settings { buildBranches
      buildCheckRunCompleted buildCreateEvent buildDeploymentStatusCreated buildIssueCommentCreated
      buildMergeGroupChecksRequested buildPullRequestBaseBranchChanged buildPullRequestConvertedToDraft
      buildPullRequestForks buildPullRequestLabelsChanged buildPullRequestMergeCommits buildPullRequestReadyForReview
      buildPullRequestReviewDismissed buildPullRequestReviewRequested buildPullRequestReviewSubmitted
      buildPullRequests buildReleaseCreated buildReleasePublished buildReleaseReleased buildTags
      cancelDeletedBranchBuilds cancelWhenMergeGroupDestroyed filterCondition filterEnabled
      ignoreDefaultBranchPullRequests issueCommentCommandWord issueCommentMatchMode prefixPullRequestForkBranchNames
      publishBlockedAsPending publishCommitStatus publishCommitStatusPerStep pullRequestBranchFilterConfiguration
      pullRequestBranchFilterEnabled separatePullRequestStatuses skipBuildsForExistingCommits
      skipPullRequestBuildsForExistingCommits triggerMode useMergeGroupBaseCommitForGitDiffBase
      useStepKeyAsCommitStatus } } ... on RepositoryProviderGitlab { settings { filterCondition filterEnabled } } ...
      on RepositoryProviderGitlabCommunity { settings { filterCondition filterEnabled } } ... on
      RepositoryProviderGitlabEnterprise { settings { filterCondition filterEnabled } } ... on
      RepositoryProviderUnknown { settings { filterCondition filterEnabled } } __typename } } } } }
    `,
  },
  {
    name: 'getPipelineSchedule',
    versions: providerVersions,
    document: `
      query getPipelineSchedule($id: ID!) { node(id: $id) { ... on PipelineSchedule { branch commit cronline enabled
      env id label message pipeline { id } uuid } } }
    `,
  },
  {
    name: 'getPipelineScheduleBySlug',
    versions: providerVersions,
    document: `
      query getPipelineScheduleBySlug($slug: ID!) { pipelineSchedule(slug: $slug) { branch commit cronline enabled env
      id label message pipeline { id } uuid } }
    `,
  },
  {
    name: 'getPipelineTeams',
    versions: providerVersions,
    document: `
      query getPipelineTeams($cursor: String, $slug: ID!) { pipeline(slug: $slug) { teams(after: $cursor, first: 50,
      order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo { endCursor hasNextPage } } }
      }
    `,
  },
  {
    name: 'getPipelineTemplates',
    versions: providerVersions,
    document: `
      query getPipelineTemplates($cursor: String, $orgSlug: ID!) { organization(slug: $orgSlug) {
      pipelineTemplates(after: $cursor, first: 50, order: NAME) { edges { node { available configuration description
      id name uuid } } pageInfo { endCursor hasNextPage } } } }
    `,
  },
  {
    name: 'getPipelineWebhook',
    versions: ['1.34.2', '1.38.0'],
    document: `
      query getPipelineWebhook($id: ID!) { node(id: $id) { ... on Pipeline { id repository { provider { ... on
      RepositoryProviderGithub { webhook { externalId url } } ... on RepositoryProviderGithubEnterprise { webhook {
      externalId url } } } url } } } }
    `,
  },
  {
    name: 'GetRegistryID',
    versions: providerVersions,
    document: `
      query GetRegistryID($slug: ID) { registry(slug: $slug) { id } }
    `,
  },
  {
    name: 'GetTeamFromSlug',
    versions: ['1.20.0', '1.27.1'],
    document: `
      query GetTeamFromSlug($slug: ID!) { team(slug: $slug) { defaultMemberRole description id isDefaultTeam
      membersCanCreatePipelines name privacy slug uuid } }
    `,
  },
  {
    name: 'GetTeamFromSlug',
    versions: ['1.34.2', '1.38.0'],
    document: `
      query GetTeamFromSlug($slug: ID!) { team(slug: $slug) { defaultMemberRole description id isDefaultTeam
      membersCanCreatePipelines membersCanCreateRegistries membersCanCreateSuites membersCanDestroyPackages
      membersCanDestroyRegistries name privacy slug uuid } }
    `,
  },
  {
    name: 'getTestSuite',
    versions: providerVersions,
    document: `
      query getTestSuite($id: ID!, $teamCount: Int) { suite: node(id: $id) { ... on Suite { defaultBranch emoji id
      name slug teams(first: $teamCount, order: NAME) { edges { node { accessLevel id team { id } } } } uuid } } }
    `,
  },
  {
    name: 'pauseDispatchClusterQueue',
    versions: providerVersions,
    document: `
      mutation pauseDispatchClusterQueue($id: ID!) { clusterQueuePauseDispatch(input: {id: $id}) { clientMutationId }
      }
    `,
  },
  {
    name: 'removeClusterDefaultQueue',
    versions: providerVersions,
    document: `
      mutation removeClusterDefaultQueue($clusterId: ID!, $organizationId: ID!) { clusterUpdate(input:
      {organizationId: $organizationId, id: $clusterId, defaultQueueId: null}) { cluster { color defaultQueue {
      description id key uuid } description emoji id name uuid } } }
    `,
  },
  {
    name: 'resumeDispatchClusterQueue',
    versions: providerVersions,
    document: `
      mutation resumeDispatchClusterQueue($id: ID!) { clusterQueueResumeDispatch(input: {id: $id}) { clientMutationId
      } }
    `,
  },
  {
    name: 'revokeAgentToken',
    versions: providerVersions,
    document: `
      mutation revokeAgentToken($id: ID!, $reason: String!) { agentTokenRevoke(input: {id: $id, reason: $reason}) {
      agentToken { description id uuid } } }
    `,
  },
  {
    name: 'revokeClusterAgentToken',
    versions: providerVersions,
    document: `
      mutation revokeClusterAgentToken($id: ID!, $organizationId: ID!) { clusterAgentTokenRevoke(input:
      {organizationId: $organizationId, id: $id}) { deletedClusterAgentTokenId } }
    `,
  },
  {
    name: 'setApiIpAddresses',
    versions: providerVersions,
    document: `
      mutation setApiIpAddresses($ipAddresses: String!, $organizationID: ID!) {
      organizationApiIpAllowlistUpdate(input: {organizationID: $organizationID, ipAddresses: $ipAddresses}) {
      organization { allowedApiIpAddresses id membersRequireTwoFactorAuthentication uuid } } }
    `,
  },
  {
    name: 'setClusterDefaultQueue',
    versions: providerVersions,
    document: `
      mutation setClusterDefaultQueue($clusterId: ID!, $organizationId: ID!, $queueId: ID) { clusterUpdate(input:
      {organizationId: $organizationId, id: $clusterId, defaultQueueId: $queueId}) { cluster { color defaultQueue {
      description id key uuid } description emoji id name uuid } } }
    `,
  },
  {
    name: 'setOrganization2FA',
    versions: providerVersions,
    document: `
      mutation setOrganization2FA($organizationID: ID!, $value: Boolean!) {
      organizationEnforceTwoFactorAuthenticationForMembersUpdate(input: {organizationId: $organizationID,
      membersRequireTwoFactorAuthentication: $value}) { organization { membersRequireTwoFactorAuthentication } } }
    `,
  },
  {
    name: 'teamCreate',
    versions: ['1.20.0', '1.27.1'],
    document: `
      mutation teamCreate($defaultMemberRole: TeamMemberRole!, $description: String, $isDefaultTeam: Boolean!,
      $membersCanCreatePipelines: Boolean, $name: String!, $organizationID: ID!, $privacy: TeamPrivacy!) {
      teamCreate(input: {organizationID: $organizationID, name: $name, description: $description, privacy: $privacy,
      isDefaultTeam: $isDefaultTeam, defaultMemberRole: $defaultMemberRole, membersCanCreatePipelines:
      $membersCanCreatePipelines}) { teamEdge { node { defaultMemberRole description id isDefaultTeam
      membersCanCreatePipelines name privacy slug uuid } } } }
    `,
  },
  {
    name: 'teamCreate',
    versions: ['1.34.2', '1.38.0'],
    document: `
      mutation teamCreate($defaultMemberRole: TeamMemberRole!, $description: String, $isDefaultTeam: Boolean!,
      $membersCanCreatePipelines: Boolean, $membersCanCreateRegistries: Boolean, $membersCanCreateSuites: Boolean,
      $membersCanDestroyPackages: Boolean, $membersCanDestroyRegistries: Boolean, $name: String!, $organizationID:
      ID!, $privacy: TeamPrivacy!) { teamCreate(input: {organizationID: $organizationID, name: $name, description:
      $description, privacy: $privacy, isDefaultTeam: $isDefaultTeam, defaultMemberRole: $defaultMemberRole,
      membersCanCreatePipelines: $membersCanCreatePipelines, membersCanCreateSuites: $membersCanCreateSuites,
      membersCanCreateRegistries: $membersCanCreateRegistries, membersCanDestroyRegistries:
      $membersCanDestroyRegistries, membersCanDestroyPackages: $membersCanDestroyPackages}) { teamEdge { node {
      defaultMemberRole description id isDefaultTeam membersCanCreatePipelines membersCanCreateRegistries
      membersCanCreateSuites membersCanDestroyPackages membersCanDestroyRegistries name privacy slug uuid } } } }
    `,
  },
  {
    name: 'teamDelete',
    versions: providerVersions,
    document: `
      mutation teamDelete($id: ID!) { teamDelete(input: {id: $id}) { deletedTeamID } }
    `,
  },
  {
    name: 'teamUpdate',
    versions: ['1.20.0', '1.27.1'],
    document: `
      mutation teamUpdate($defaultMemberRole: TeamMemberRole!, $description: String, $id: ID!, $isDefaultTeam:
      Boolean!, $membersCanCreatePipelines: Boolean, $name: String!, $privacy: TeamPrivacy!) { teamUpdate(input: {id:
      $id, name: $name, description: $description, privacy: $privacy, isDefaultTeam: $isDefaultTeam,
      defaultMemberRole: $defaultMemberRole, membersCanCreatePipelines: $membersCanCreatePipelines}) { team {
      defaultMemberRole description id isDefaultTeam membersCanCreatePipelines name privacy slug uuid } } }
    `,
  },
  {
    name: 'teamUpdate',
    versions: ['1.34.2', '1.38.0'],
    document: `
      mutation teamUpdate($defaultMemberRole: TeamMemberRole!, $description: String, $id: ID!, $isDefaultTeam:
      Boolean!, $membersCanCreatePipelines: Boolean, $membersCanCreateRegistries: Boolean, $membersCanCreateSuites:
      Boolean, $membersCanDestroyPackages: Boolean, $membersCanDestroyRegistries: Boolean, $name: String!, $privacy:
      TeamPrivacy!) { teamUpdate(input: {id: $id, name: $name, description: $description, privacy: $privacy,
      isDefaultTeam: $isDefaultTeam, defaultMemberRole: $defaultMemberRole, membersCanCreatePipelines:
      $membersCanCreatePipelines, membersCanCreateSuites: $membersCanCreateSuites, membersCanCreateRegistries:
      $membersCanCreateRegistries, membersCanDestroyRegistries: $membersCanDestroyRegistries,
      membersCanDestroyPackages: $membersCanDestroyPackages}) { team { defaultMemberRole description id isDefaultTeam
      membersCanCreatePipelines membersCanCreateRegistries membersCanCreateSuites membersCanDestroyPackages
      membersCanDestroyRegistries name privacy slug uuid } } }
    `,
  },
  {
    name: 'unarchivePipeline',
    versions: ['1.34.2', '1.38.0'],
    document: `
      mutation unarchivePipeline($id: ID!) { pipelineUnarchive(input: {id: $id}) { clientMutationId } }
    `,
  },
  {
    name: 'updateCluster',
    versions: providerVersions,
    document: `
      mutation updateCluster($color: String, $description: String, $emoji: String, $id: ID!, $name: String,
      $organizationId: ID!) { clusterUpdate(input: {organizationId: $organizationId, id: $id, name: $name,
      description: $description, emoji: $emoji, color: $color}) { clientMutationId cluster { color defaultQueue {
      description id key uuid } description emoji id name uuid } } }
    `,
  },
  {
    name: 'updateClusterAgentToken',
    versions: providerVersions,
    document: `
      mutation updateClusterAgentToken($allowedIpAddresses: String, $description: String!, $id: ID!, $organizationId:
      ID!) { clusterAgentTokenUpdate(input: {organizationId: $organizationId, id: $id, description: $description,
      allowedIpAddresses: $allowedIpAddresses}) { clusterAgentToken { allowedIpAddresses cluster { id uuid }
      description id uuid } } }
    `,
  },
  {
    name: 'updateClusterQueue',
    versions: ['1.20.0'],
    document: `
      mutation updateClusterQueue($description: String, $hostedAgents: HostedAgentsQueueSettingsUpdateInput, $id: ID!,
      $organizationId: ID!) { clusterQueueUpdate(input: {organizationId: $organizationId, id: $id, description:
      $description, hostedAgents: $hostedAgents}) { clusterQueue { cluster { id uuid } description dispatchPaused
      dispatchPausedAt dispatchPausedBy { id } dispatchPausedNote hosted hostedAgents { instanceShape { architecture
      machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { xcodeVersion } } } id key
      uuid } } }
    `,
  },
  {
    name: 'updateClusterQueue',
    versions: ['1.27.1', '1.34.2', '1.38.0'],
    document: `
      mutation updateClusterQueue($description: String, $hostedAgents: HostedAgentsQueueSettingsUpdateInput, $id: ID!,
      $organizationId: ID!) { clusterQueueUpdate(input: {organizationId: $organizationId, id: $id, description:
      $description, hostedAgents: $hostedAgents}) { clusterQueue { cluster { id uuid } description dispatchPaused
      dispatchPausedAt dispatchPausedBy { id } dispatchPausedNote hosted hostedAgents { instanceShape { architecture
      machineType memory name size vcpu } platformSettings { linux { agentImageRef } macos { macosVersion xcodeVersion
      } } } id key uuid } } }
    `,
  },
  {
    name: 'updateOrganizationRule',
    versions: providerVersions,
    document: `
      mutation updateOrganizationRule($description: String, $id: ID!, $organizationId: ID!, $value: JSON!) {
      ruleUpdate(input: {organizationId: $organizationId, id: $id, description: $description, value: $value}) { rule {
      action description document effect id source { ... on Pipeline { uuid } } sourceType target { ... on Pipeline {
      uuid } } targetType type uuid } } }
    `,
  },
  {
    name: 'updatePipeline',
    versions: ['1.20.0', '1.27.1'],
    document: `
      mutation updatePipeline($input: PipelineUpdateInput!) { pipelineUpdate(input: $input) { pipeline { allowRebuilds
      badgeURL branchConfiguration cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id name }
      color defaultBranch defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name pipelineTemplate {
      id } pipelineUuid: uuid repository { url } skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps
      { yaml } tags { label } teams(first: 5, order: NAME) { count edges { cursor node { accessLevel id team { id } }
      } pageInfo { endCursor hasNextPage } } webhookURL } } }
    `,
  },
  {
    name: 'updatePipeline',
    versions: ['1.34.2'],
    document: `
      mutation updatePipeline($input: PipelineUpdateInput!) { pipelineUpdate(input: $input) { pipeline { allowRebuilds
      archived badgeURL branchConfiguration cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter cluster { id
      name } color defaultBranch defaultTimeoutInMinutes description emoji id maximumTimeoutInMinutes name
      pipelineTemplate { id } pipelineUuid: uuid repository { url } skipIntermediateBuilds
      skipIntermediateBuildsBranchFilter slug steps { yaml } tags { label } teams(first: 5, order: NAME) { count edges
      { cursor node { accessLevel id team { id } } } pageInfo { endCursor hasNextPage } } visibility webhookURL } } }
    `,
  },
  {
    name: 'updatePipeline',
    versions: ['1.38.0'],
    document: `
      mutation updatePipeline($input: PipelineUpdateInput!) { pipelineUpdate(input: $input) { pipeline { allowRebuilds
      archived badgeURL branchConfiguration cancelIntermediateBuilds cancelIntermediateBuildsBranchFilter
      cloneMirrorUrl cluster { id name } color defaultBranch defaultTimeoutInMinutes description emoji id
      maximumTimeoutInMinutes name pipelineTemplate { id } pipelineUuid: uuid repository { url }
      skipIntermediateBuilds skipIntermediateBuildsBranchFilter slug steps { yaml } tags { label } teams(first: 5,
      order: NAME) { count edges { cursor node { accessLevel id team { id } } } pageInfo { endCursor hasNextPage } }
      visibility webhookURL } } }
    `,
  },
  {
    name: 'updatePipelineSchedule',
    versions: providerVersions,
    document: `
      mutation updatePipelineSchedule($input: PipelineScheduleUpdateInput!) { pipelineScheduleUpdate(input: $input) {
      pipelineSchedule { branch commit cronline enabled env id label message pipeline { id } uuid } } }
    `,
  },
  {
    name: 'updatePipelineTemplate',
    versions: providerVersions,
    document: `
      mutation updatePipelineTemplate($available: Boolean, $configuration: String, $description: String, $id: ID!,
      $name: String, $organizationId: ID!) { pipelineTemplateUpdate(input: {organizationId: $organizationId, id: $id,
      name: $name, configuration: $configuration, description: $description, available: $available}) {
      pipelineTemplate { available configuration description id name uuid } } }
    `,
  },
  {
    name: 'updateTeamMember',
    versions: providerVersions,
    document: `
      mutation updateTeamMember($id: ID!, $role: TeamMemberRole!) { teamMemberUpdate(input: {id: $id, role: $role}) {
      teamMember { id role team { id } user { id } uuid } } }
    `,
  },
  {
    name: 'updateTeamPipeline',
    versions: providerVersions,
    document: `
      mutation updateTeamPipeline($accessLevel: PipelineAccessLevels!, $id: ID!) { teamPipelineUpdate(input: {id: $id,
      accessLevel: $accessLevel}) { teamPipeline { id pipeline { id } pipelineAccessLevel: accessLevel team { id }
      uuid } } }
    `,
  },
  {
    name: 'updateTestSuiteTeam',
    versions: providerVersions,
    document: `
      mutation updateTestSuiteTeam($accessLevel: SuiteAccessLevels!, $id: ID!) { teamSuiteUpdate(input: {id: $id,
      accessLevel: $accessLevel}) { teamSuite { accessLevel id uuid } } }
    `,
  },
  {
    name: 'upsertBanner',
    versions: providerVersions,
    document: `
      mutation upsertBanner($message: String!, $organizationId: ID!) { organizationBannerUpsert(input:
      {organizationId: $organizationId, message: $message}) { banner { id message uuid } clientMutationId } }
    `,
  },
]
