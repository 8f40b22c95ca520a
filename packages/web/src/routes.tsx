// Address → page. The server knows the same addresses in pages/addresses.ts.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  type RouteComponent,
} from '@tanstack/react-router'
import { Missing, Problem } from './parts/States.tsx'
import { readAuditSearch } from './pages/audit-log/search.ts'
import { readSearchText } from './pages/members/search.ts'
import { readAgentSearch } from './pages/agents/search.ts'
import { readInsightSearch } from './pages/insights/search.ts'
import { readLogSearch } from './pages/log-search/search.ts'
import { readFilters } from './pages/builds/filters.ts'
import { readTokenSearch } from './pages/me/search.ts'
import { readSearch } from './pages/pipelines/choose.ts'
import { readDeliverySearch, readProviderSearch } from './pages/services/search.ts'
import { readSuiteSearch } from './pages/suite/search.ts'
import { StartPage } from './pages/start/page.tsx'
import { readBuildSearch } from './pages/build/search.ts'
import { loadPage } from './load-page.ts'
import { Shell } from './shell/Shell.tsx'

const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Missing what="A page at this address" />,
})

/** A page. `readSearch` reads what follows the question mark. */
const page = <Path extends string, Search extends object = object>(
  path: Path,
  component: RouteComponent,
  readSearch: (search: Record<string, unknown>) => Search = (search) => search as Search,
) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    component,
    validateSearch: readSearch,
    beforeLoad: ({ params }) => refuseFixedWords(params),
  })

/** `/organizations/acme/nothing` is no page of an organization called "organizations". */
function refuseFixedWords({ org }: { org?: string }): void {
  if (org === 'organizations' || org === '-') throw notFound()
}

/** A page that is loaded when somebody opens it, or points at a link to it. */
const lazyPage = <Path extends string, Name extends string, Search extends object = object>(
  path: Path,
  load: () => Promise<Record<NoInfer<Name>, RouteComponent>>,
  name: Name,
  readSearch?: (search: Record<string, unknown>) => Search,
) =>
  page(
    path,
    lazyRouteComponent(() => loadPage(load), name),
    readSearch,
  )

/** A page of an organization's settings, which shell/settings-pages.ts lists. */
const settingsPage = <Path extends string, Name extends string, Search extends object = object>(
  path: Path,
  load: () => Promise<Record<NoInfer<Name>, RouteComponent>>,
  name: Name,
  readSearch?: (search: Record<string, unknown>) => Search,
) => lazyPage(`/organizations/$org/settings/${path}`, load, name, readSearch)

/** A page of a pipeline's settings, which shell/pipeline-settings-pages.ts lists. */
const pipelineSettingsPage = <Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<NoInfer<Name>, RouteComponent>>,
  name: Name,
) => lazyPage(`/$org/$pipeline/settings/${path}`, load, name)

const agentPage = lazyRouteComponent(() => loadPage(() => import('./pages/agent/page.tsx')), 'AgentPage')

const routeTree = rootRoute.addChildren([
  page('/-/start', StartPage),
  lazyPage('/$org', () => import('./pages/pipelines/page.tsx'), 'PipelinesPage', readSearch),
  lazyPage('/$org/$pipeline', () => import('./pages/pipeline/page.tsx'), 'PipelinePage', readFilters),
  lazyPage(
    '/$org/$pipeline/archived_builds',
    () => import('./pages/archived-builds/page.tsx'),
    'ArchivedBuildsPage',
  ),
  lazyPage('/organizations/$org/builds', () => import('./pages/builds/page.tsx'), 'BuildsPage', readFilters),
  lazyPage(
    '/organizations/$org/insights',
    () => import('./pages/insights/page.tsx'),
    'InsightsPage',
    readInsightSearch,
  ),
  lazyPage(
    '/organizations/$org/log-search',
    () => import('./pages/log-search/page.tsx'),
    'LogSearchPage',
    readLogSearch,
  ),
  lazyPage(
    '/$org/$pipeline/builds/$number',
    () => import('./pages/build/page.tsx'),
    'BuildPage',
    readBuildSearch,
  ),
  lazyPage(
    '/organizations/$org/pipelines/new',
    () => import('./pages/pipeline-new/page.tsx'),
    'NewPipelinePage',
  ),
  lazyPage(
    '/$org/$pipeline/settings',
    () => import('./pages/pipeline-settings/start.tsx'),
    'PipelineSettingsStartPage',
  ),
  pipelineSettingsPage(
    'general',
    () => import('./pages/pipeline-settings/general/page.tsx'),
    'PipelineGeneralPage',
  ),
  pipelineSettingsPage('steps', () => import('./pages/pipeline-settings/steps/page.tsx'), 'StepsPage'),
  pipelineSettingsPage(
    'repository',
    () => import('./pages/pipeline-settings/repository/page.tsx'),
    'RepositoryPage',
  ),
  pipelineSettingsPage(
    'builds',
    () => import('./pages/pipeline-settings/builds/page.tsx'),
    'BuildSettingsPage',
  ),
  pipelineSettingsPage(
    'schedules',
    () => import('./pages/pipeline-settings/schedules/page.tsx'),
    'SchedulesPage',
  ),
  pipelineSettingsPage(
    'triggers',
    () => import('./pages/pipeline-settings/triggers/page.tsx'),
    'TriggersPage',
  ),
  pipelineSettingsPage('access', () => import('./pages/pipeline-settings/access/page.tsx'), 'AccessPage'),
  pipelineSettingsPage(
    'notifications',
    () => import('./pages/pipeline-settings/notifications/page.tsx'),
    'PipelineNotificationsPage',
  ),
  pipelineSettingsPage('badges', () => import('./pages/pipeline-settings/badges/page.tsx'), 'BadgesPage'),
  pipelineSettingsPage(
    'retention',
    () => import('./pages/pipeline-settings/retention/page.tsx'),
    'PipelineRetentionPage',
  ),
  pipelineSettingsPage('caches', () => import('./pages/pipeline-settings/caches/page.tsx'), 'CachesPage'),
  pipelineSettingsPage('danger', () => import('./pages/pipeline-settings/danger/page.tsx'), 'DangerPage'),
  lazyPage(
    '/organizations/$org/agents',
    () => import('./pages/agents/page.tsx'),
    'AgentsPage',
    readAgentSearch,
  ),
  lazyPage('/organizations/$org/analytics/suites', () => import('./pages/suites/page.tsx'), 'SuitesPage'),
  lazyPage(
    '/organizations/$org/analytics/suites/$suite',
    () => import('./pages/suite/page.tsx'),
    'SuitePage',
    readSuiteSearch,
  ),
  lazyPage(
    '/organizations/$org/analytics/suites/$suite/settings',
    () => import('./pages/suite-settings/page.tsx'),
    'SuiteSettingsPage',
  ),
  lazyPage(
    '/organizations/$org/analytics/suites/$suite/tests/$test',
    () => import('./pages/test/page.tsx'),
    'TestPage',
  ),
  lazyPage('/organizations/$org/clusters', () => import('./pages/clusters/page.tsx'), 'ClustersPage'),
  lazyPage('/organizations/$org/clusters/$cluster', () => import('./pages/cluster/page.tsx'), 'ClusterPage'),
  lazyPage(
    '/organizations/$org/clusters/$cluster/tokens',
    () => import('./pages/cluster-tokens/page.tsx'),
    'ClusterTokensPage',
  ),
  lazyPage(
    '/organizations/$org/clusters/$cluster/secrets',
    () => import('./pages/cluster-secrets/page.tsx'),
    'ClusterSecretsPage',
  ),
  lazyPage(
    '/organizations/$org/clusters/$cluster/maintainers',
    () => import('./pages/cluster-maintainers/page.tsx'),
    'ClusterMaintainersPage',
  ),
  lazyPage(
    '/organizations/$org/clusters/$cluster/agent_images',
    () => import('./pages/agent-images/page.tsx'),
    'AgentImagesPage',
  ),
  lazyPage(
    '/organizations/$org/clusters/$cluster/cache_volumes',
    () => import('./pages/cache-volumes/page.tsx'),
    'CacheVolumesPage',
  ),
  lazyPage(
    '/organizations/$org/clusters/$cluster/settings',
    () => import('./pages/cluster-settings/page.tsx'),
    'ClusterSettingsPage',
  ),
  lazyPage(
    '/organizations/$org/clusters/$cluster/queues/$queue',
    () => import('./pages/queue/page.tsx'),
    'QueuePage',
  ),
  page('/organizations/$org/clusters/$cluster/agents/$agent', agentPage),
  page('/organizations/$org/clusters/$cluster/queues/$queue/agents/$agent', agentPage),
  lazyPage('/organizations/$org/settings', () => import('./pages/settings/page.tsx'), 'SettingsStartPage'),
  settingsPage('general', () => import('./pages/organization/page.tsx'), 'GeneralPage'),
  settingsPage('members', () => import('./pages/members/page.tsx'), 'MembersPage', readSearchText),
  settingsPage('service-accounts', () => import('./pages/service-accounts/page.tsx'), 'ServiceAccountsPage'),
  settingsPage('token-issuers', () => import('./pages/token-issuers/page.tsx'), 'TokenIssuersPage'),
  settingsPage('programs', () => import('./pages/connected-programs/page.tsx'), 'ConnectedProgramsPage'),
  settingsPage('invitations', () => import('./pages/invitations/page.tsx'), 'InvitationsPage'),
  settingsPage('teams', () => import('./pages/teams/page.tsx'), 'TeamsPage'),
  settingsPage('teams/$team', () => import('./pages/team/page.tsx'), 'TeamPage'),
  settingsPage('sso', () => import('./pages/sso/page.tsx'), 'SsoPage'),
  settingsPage('api', () => import('./pages/api-settings/page.tsx'), 'ApiSettingsPage'),
  settingsPage('pipelines', () => import('./pages/pipeline-defaults/page.tsx'), 'PipelineDefaultsPage'),
  settingsPage('templates', () => import('./pages/templates/page.tsx'), 'TemplatesPage'),
  settingsPage('connections', () => import('./pages/connections/page.tsx'), 'ConnectionsPage'),
  settingsPage('services', () => import('./pages/services/page.tsx'), 'ServicesPage'),
  settingsPage(
    'services/new',
    () => import('./pages/service-new/page.tsx'),
    'NewServicePage',
    readProviderSearch,
  ),
  settingsPage(
    'services/$service',
    () => import('./pages/service/page.tsx'),
    'ServicePage',
    readDeliverySearch,
  ),
  settingsPage(
    'services/$service/deliveries/$delivery',
    () => import('./pages/delivery/page.tsx'),
    'DeliveryPage',
  ),
  settingsPage('retention', () => import('./pages/retention/page.tsx'), 'RetentionPage'),
  settingsPage('audit-log', () => import('./pages/audit-log/page.tsx'), 'AuditLogPage', readAuditSearch),
  settingsPage('rules', () => import('./pages/rules/page.tsx'), 'RulesPage'),
  settingsPage('archive', () => import('./pages/archive/page.tsx'), 'ArchivePage'),
  lazyPage('/organizations/$org/start', () => import('./pages/first-run/page.tsx'), 'FirstRunPage'),
  lazyPage('/-/installation', () => import('./pages/installation/page.tsx'), 'InstallationPage'),
  lazyPage('/-/me', () => import('./pages/me/profile.tsx'), 'ProfilePage'),
  lazyPage('/-/me/tokens', () => import('./pages/me/tokens.tsx'), 'TokensPage', readTokenSearch),
  lazyPage('/-/me/programs', () => import('./pages/me/programs.tsx'), 'ProgramsPage'),
  lazyPage('/-/me/sessions', () => import('./pages/me/sessions.tsx'), 'SessionsPage'),
  lazyPage(
    '/organizations/$org/clusters/$cluster/agent_images/$image',
    () => import('./pages/agent-image/page.tsx'),
    'AgentImagePage',
  ),
  lazyPage(
    '/organizations/$org/pipeline-templates/$template',
    () => import('./pages/pipeline-template/page.tsx'),
    'PipelineTemplatePage',
  ),
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} onRetry={reset} />,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
