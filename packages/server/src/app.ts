// The table of contents: one line per slice of the REST API, of the agent API and of the web pages. What is not listed
// here does not run.
import type { FastifyInstance } from 'fastify'
import { agentApi } from './agent-api/agents/agents.ts'
import { annotationApi } from './agent-api/jobs/annotations.ts'
import { artifactApi } from './agent-api/jobs/artifacts.ts'
import { cacheBlobEndpoints } from './agent-api/caches/cache-blobs.ts'
import { cacheRegistryApi } from './agent-api/caches/cache-registries.ts'
import { jobApi } from './agent-api/jobs/jobs.ts'
import { logApi } from './agent-api/jobs/logs.ts'
import { metaDataApi } from './agent-api/jobs/meta-data.ts'
import { metricsApi } from './agent-api/agents/metrics.ts'
import { oidcApi } from './agent-api/credentials/oidc.ts'
import { pingApi } from './agent-api/agents/pings.ts'
import { pipelineApi } from './agent-api/steps/pipelines.ts'
import { agentEndpoints } from './agent-api/endpoints.ts'
import type { AgentRoute } from './agent-api/route.ts'
import { repositoryRelayApi } from './agent-api/repository/relay.ts'
import { repositoryTokenApi } from './agent-api/credentials/repository-tokens.ts'
import { secretApi } from './agent-api/credentials/secrets.ts'
import { stackApi } from './agent-api/stacks/stacks.ts'
import { stepCacheApi } from './agent-api/caches/step-caches.ts'
import { stepApi } from './agent-api/steps/steps.ts'
import { jobTestResultsApi } from './agent-api/tests/job-test-results.ts'
import { testUploadApi } from './agent-api/tests/test-uploads.ts'
import { uploadEndpoints } from './agent-api/uploads.ts'
import { measureWaitingAgents } from './agent-api/agents/waiting-agents.ts'
import { startDispatcher } from './conductor/dispatch/dispatcher.ts'
import type { Context } from './context.ts'
import type { Database } from './db/pool.ts'
import { graphqlEndpoints } from './graphql/endpoints.ts'
import { registerEndpoints } from './http/endpoint.ts'
import { measureHoldings, serveMetrics } from './http/metrics.ts'
import { answerUnknownPaths } from './http/not-found.ts'
import { restEndpoints } from './http/rest.ts'
import type { Slices } from './http/route.ts'
import { buildServer } from './http/server.ts'
import { monitoringOf } from './monitoring.ts'
import { mcpEndpoints } from './mcp/endpoint.ts'
import { serveDocs } from './openapi/docs.ts'
import { connectPages } from './pages/connect-services.ts'
import { downloadEndpoints } from './pages/downloads/endpoints.ts'
import { answerMissingPage, pageEndpoints } from './pages/endpoints.ts'
import type { Page } from './pages/page.ts'
import { invitationPages } from './pages/invitations.ts'
import { authorizePages } from './pages/oauth/authorize.ts'
import { devicePages } from './pages/oauth/device-page.ts'
import { oauthEndpoints } from './pages/oauth/endpoints.ts'
import { pageTicketEndpoint } from './pages/page-tickets.ts'
import { passwordPages } from './pages/password.ts'
import { signInPages } from './pages/sign-in.ts'
import { ssoPages } from './pages/sso.ts'
import { signOutPages } from './pages/sign-out.ts'
import { readSite } from './pages/site.ts'
import { assetEndpoint } from './pages/web.ts'
import { accessTokenRoutes } from './resources/people/access-token/routes.ts'
import { agentRoutes } from './resources/clusters/agents/routes.ts'
import { agentImageRoutes } from './resources/clusters/agent-images/routes.ts'
import { annotationRoutes } from './resources/builds/annotations/routes.ts'
import { apiSettingsRoutes } from './resources/people/api-settings/routes.ts'
import { archivedBuildRoutes } from './resources/builds/archived_builds/routes.ts'
import { artifactRoutes } from './resources/builds/artifacts/routes.ts'
import { auditEventRoutes } from './resources/people/audit_events/routes.ts'
import { bannerRoutes } from './resources/people/banners/routes.ts'
import { badgeRoutes } from './resources/pipelines/badges/routes.ts'
import { buildRoutes } from './resources/builds/builds/routes.ts'
import { ccRoutes } from './resources/pipelines/cc/routes.ts'
import { cacheUsesRoutes } from './resources/pipelines/cache_uses/routes.ts'
import { cacheRoutes } from './resources/pipelines/caches/routes.ts'
import { repositoryHealthRoutes } from './resources/pipelines/repository_health/routes.ts'
import { deployKeyRoutes } from './resources/pipelines/deploy_key/routes.ts'
import { cacheVolumeRoutes } from './resources/clusters/cache_volumes/routes.ts'
import { clusterTokenRoutes } from './resources/clusters/cluster-tokens/routes.ts'
import { clusterRoutes } from './resources/clusters/clusters/routes.ts'
import { connectedProgramRoutes } from './resources/people/connected_programs/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { commitStatusRoutes } from './resources/builds/commit-statuses/routes.ts'
import { buildDeliveryRoutes } from './resources/notifications/build-deliveries/routes.ts'
import { deliveryRoutes } from './resources/notifications/deliveries/routes.ts'
import { emojiRoutes } from './resources/installation/emojis/routes.ts'
import { liveStreams } from './resources/builds/events/live-streams.ts'
import { eventRoutes } from './resources/builds/events/routes.ts'
import { failureSummaryRoutes } from './resources/builds/failure_summary/routes.ts'
import { graphRoutes } from './resources/builds/graph/routes.ts'
import { favoriteRoutes } from './resources/people/favorites/routes.ts'
import { budgetRoutes } from './resources/insights/budgets/routes.ts'
import { insightRoutes } from './resources/insights/insights/routes.ts'
import { slowerStepRoutes } from './resources/insights/slower_steps/routes.ts'
import { invitationRoutes } from './resources/people/invitations/routes.ts'
import { jobRoutes } from './resources/builds/jobs/routes.ts'
import { logSearchRoutes } from './resources/builds/log-search/routes.ts'
import { logRoutes } from './resources/builds/log/routes.ts'
import { rowRoutes } from './resources/builds/log/row-routes.ts'
import { instanceShapeRoutes } from './resources/clusters/instance_shapes/routes.ts'
import { maintainerRoutes } from './resources/clusters/maintainers/routes.ts'
import { serviceAccountTokenRoutes } from './resources/people/service-account-tokens/routes.ts'
import { serviceAccountRoutes } from './resources/people/service_accounts/routes.ts'
import { memberRoutes } from './resources/people/members/routes.ts'
import { installationRoutes } from './resources/installation/installation/routes.ts'
import { metaRoutes } from './resources/installation/meta/routes.ts'
import { networkRangeRoutes } from './resources/clusters/network_ranges/routes.ts'
import { organizationRoutes } from './resources/people/organizations/routes.ts'
import { pipelineSettingsRoutes } from './resources/pipelines/pipeline-settings/routes.ts'
import { pipelineTemplateRoutes } from './resources/pipelines/pipeline-templates/routes.ts'
import { pipelineTrendRoutes } from './resources/pipelines/pipeline-trends/routes.ts'
import { pipelineRoutes } from './resources/pipelines/pipelines/routes.ts'
import { queueRoutes } from './resources/clusters/queues/routes.ts'
import { repositoryRoutes } from './resources/pipelines/repositories/routes.ts'
import { repositoryConnectionRoutes } from './resources/pipelines/repository_connections/routes.ts'
import { retentionRoutes } from './resources/builds/retention/routes.ts'
import { rootRoutes } from './resources/installation/root/routes.ts'
import { ruleRoutes } from './resources/clusters/rules/routes.ts'
import { scheduleRoutes } from './resources/pipelines/schedules/routes.ts'
import { searchRoutes } from './resources/builds/search/routes.ts'
import { secretRoutes } from './resources/clusters/secrets/routes.ts'
import { serviceEventRoutes } from './resources/notifications/service-events/routes.ts'
import { serviceRoutes } from './resources/notifications/services/routes.ts'
import { ssoRoutes } from './resources/people/sso/routes.ts'
import { stepUploadRoutes } from './resources/builds/step-uploads/routes.ts'
import { triggerDeliveryRoutes } from './resources/pipelines/trigger-deliveries/routes.ts'
import { triggerRoutes } from './resources/pipelines/triggers/routes.ts'
import { dryRunRoutes, triggerAddressRoutes } from './webhooks/triggers/routes.ts'
import { suiteRoutes } from './resources/tests/suites/routes.ts'
import { teamMemberRoutes } from './resources/people/team-members/routes.ts'
import { teamPipelineRoutes } from './resources/pipelines/team-pipelines/routes.ts'
import { teamSuiteRoutes } from './resources/tests/team-suites/routes.ts'
import { teamRoutes } from './resources/people/teams/routes.ts'
import { executionTagRoutes } from './resources/tests/execution-tags/routes.ts'
import { executionRoutes } from './resources/tests/executions/routes.ts'
import { testFileRoutes } from './resources/tests/test_files/routes.ts'
import { testPlanRoutes } from './resources/tests/test_plan/routes.ts'
import { testRunRoutes } from './resources/tests/test_runs/routes.ts'
import { testRoutes } from './resources/tests/tests/routes.ts'
import { sessionRoutes } from './resources/people/sessions/routes.ts'
import { tokenIssuerRoutes } from './resources/people/token_issuers/routes.ts'
import { userAccessTokenRoutes } from './resources/people/access-tokens/routes.ts'
import { userRoutes } from './resources/people/user/routes.ts'

export const slices: Slices = {
  'access-token': accessTokenRoutes,
  'access-tokens': userAccessTokenRoutes,
  'agent-images': agentImageRoutes,
  agents: agentRoutes,
  annotations: annotationRoutes,
  'api-settings': apiSettingsRoutes,
  archived_builds: archivedBuildRoutes,
  artifacts: artifactRoutes,
  audit_events: auditEventRoutes,
  badges: badgeRoutes,
  banners: bannerRoutes,
  budgets: budgetRoutes,
  'build-deliveries': buildDeliveryRoutes,
  builds: buildRoutes,
  cache_uses: cacheUsesRoutes,
  cache_volumes: cacheVolumeRoutes,
  caches: cacheRoutes,
  cc: ccRoutes,
  'cluster-tokens': clusterTokenRoutes,
  clusters: clusterRoutes,
  'commit-statuses': commitStatusRoutes,
  connected_programs: connectedProgramRoutes,
  deliver: [...webhookRoutes, ...triggerAddressRoutes],
  deploy_key: deployKeyRoutes,
  repository_health: repositoryHealthRoutes,
  deliveries: deliveryRoutes,
  emojis: emojiRoutes,
  events: eventRoutes,
  failure_summary: failureSummaryRoutes,
  graph: graphRoutes,
  favorites: favoriteRoutes,
  invitations: invitationRoutes,
  jobs: jobRoutes,
  log: [...logRoutes, ...rowRoutes],
  'log-search': logSearchRoutes,
  maintainers: maintainerRoutes,
  members: memberRoutes,
  installation: installationRoutes,
  insights: insightRoutes,
  instance_shapes: instanceShapeRoutes,
  meta: metaRoutes,
  network_ranges: networkRangeRoutes,
  organizations: organizationRoutes,
  'pipeline-settings': pipelineSettingsRoutes,
  'pipeline-templates': pipelineTemplateRoutes,
  'pipeline-trends': pipelineTrendRoutes,
  pipelines: pipelineRoutes,
  queues: queueRoutes,
  repositories: repositoryRoutes,
  repository_connections: repositoryConnectionRoutes,
  retention: retentionRoutes,
  root: rootRoutes,
  rules: ruleRoutes,
  schedules: scheduleRoutes,
  search: searchRoutes,
  secrets: secretRoutes,
  'service-account-tokens': serviceAccountTokenRoutes,
  'service-events': serviceEventRoutes,
  service_accounts: serviceAccountRoutes,
  services: serviceRoutes,
  sessions: sessionRoutes,
  sso: ssoRoutes,
  slower_steps: slowerStepRoutes,
  'step-uploads': stepUploadRoutes,
  suites: suiteRoutes,
  'team-members': teamMemberRoutes,
  'team-pipelines': teamPipelineRoutes,
  'team-suites': teamSuiteRoutes,
  teams: teamRoutes,
  'execution-tags': executionTagRoutes,
  executions: executionRoutes,
  test_files: testFileRoutes,
  test_plan: testPlanRoutes,
  test_runs: testRunRoutes,
  tests: testRoutes,
  token_issuers: tokenIssuerRoutes,
  'trigger-deliveries': triggerDeliveryRoutes,
  triggers: [...triggerRoutes, ...dryRunRoutes],
  user: userRoutes,
}

export const agentApiRoutes: readonly AgentRoute[] = [
  ...agentApi,
  ...annotationApi,
  ...artifactApi,
  ...cacheRegistryApi,
  ...stepCacheApi,
  ...jobApi,
  ...logApi,
  ...metaDataApi,
  ...metricsApi,
  ...oidcApi,
  ...pingApi,
  ...pipelineApi,
  ...repositoryRelayApi,
  ...repositoryTokenApi,
  ...secretApi,
  ...stackApi,
  ...stepApi,
  ...jobTestResultsApi,
  ...testUploadApi,
]

const pages: readonly Page[] = [
  ...signInPages,
  ...signOutPages,
  ...ssoPages,
  ...passwordPages,
  ...invitationPages,
  ...connectPages,
  ...authorizePages,
  ...devicePages,
]

/** The server with everything that it answers. */
export async function buildApp(ctx: Context, database: Database): Promise<FastifyInstance> {
  const app = await buildServer(ctx, database)
  const dispatcher = await startDispatcher(ctx, database.direct)
  // Answers the agents that wait for a job, before the server closes their connections.
  app.addHook('preClose', () => dispatcher.stop())
  app.addHook('preClose', () => liveStreams(ctx).stop())
  measureWaitingAgents(ctx.metrics, dispatcher)
  measureHoldings(ctx.metrics, app)
  const monitoring = monitoringOf(ctx, database)
  app.addHook('preClose', monitoring.stop)
  const { host, secrets } = ctx.config
  serveMetrics(app, { host, token: secrets.metricsToken }, monitoring.read)
  serveDocs(app, ctx.config.url, slices)
  const site = readSite()
  answerUnknownPaths(app, ctx, (request, reply) => answerMissingPage(ctx, site, request, reply))
  await registerEndpoints(app, [
    ...restEndpoints(ctx, Object.values(slices).flat()),
    ...agentEndpoints(ctx, dispatcher, agentApiRoutes),
    ...uploadEndpoints(ctx),
    ...cacheBlobEndpoints(ctx),
    ...graphqlEndpoints(ctx, Object.values(slices).flat()),
    ...pageEndpoints(ctx, pages),
    pageTicketEndpoint(ctx),
    ...oauthEndpoints(ctx),
    ...mcpEndpoints(ctx, Object.values(slices).flat()),
    assetEndpoint(site),
    ...downloadEndpoints(),
  ])
  return app
}
