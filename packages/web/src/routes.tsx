// Address → page. The server knows the same addresses in pages/addresses.ts.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Missing, Problem } from './parts/States.tsx'
import { readAgentSearch } from './pages/agents/search.ts'
import { readFilters } from './pages/builds/filters.ts'
import { readTokenSearch } from './pages/me/search.ts'
import { readSearch } from './pages/pipelines/choose.ts'
import { StartPage } from './pages/start/page.tsx'
import { readBuildSearch } from './pages/build/search.ts'
import { Shell } from './shell/Shell.tsx'

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: () => <Missing what="This page" /> })

const startRoute = createRoute({ getParentRoute: () => rootRoute, path: '/-/start', component: StartPage })

const pipelinesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./pages/pipelines/page.tsx'), 'PipelinesPage'),
})

const pipelineRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org/$pipeline',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import('./pages/pipeline/page.tsx'), 'PipelinePage'),
})

const organizationBuildsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/builds',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import('./pages/builds/page.tsx'), 'BuildsPage'),
})

const buildRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org/$pipeline/builds/$number',
  validateSearch: readBuildSearch,
  component: lazyRouteComponent(() => import('./pages/build/page.tsx'), 'BuildPage'),
})

const newPipelineRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/pipelines/new',
  component: lazyRouteComponent(() => import('./pages/pipeline-new/page.tsx'), 'NewPipelinePage'),
})

const pipelineSettingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org/$pipeline/settings/$section',
  component: lazyRouteComponent(() => import('./pages/pipeline-settings/page.tsx'), 'PipelineSettingsPage'),
})

const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/agents',
  validateSearch: readAgentSearch,
  component: lazyRouteComponent(() => import('./pages/agents/page.tsx'), 'AgentsPage'),
})

const clustersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/clusters',
  component: lazyRouteComponent(() => import('./pages/clusters/page.tsx'), 'ClustersPage'),
})

const clusterRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/clusters/$cluster',
  component: lazyRouteComponent(() => import('./pages/cluster/page.tsx'), 'ClusterPage'),
})

const queueRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/clusters/$cluster/queues/$queue',
  component: lazyRouteComponent(() => import('./pages/queue/page.tsx'), 'QueuePage'),
})

const agentPage = lazyRouteComponent(() => import('./pages/agent/page.tsx'), 'AgentPage')

const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/clusters/$cluster/agents/$agent',
  component: agentPage,
})

const agentInQueueRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/clusters/$cluster/queues/$queue/agents/$agent',
  component: agentPage,
})

const firstRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/start',
  component: lazyRouteComponent(() => import('./pages/first-run/page.tsx'), 'FirstRunPage'),
})

const profileRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/-/me',
  component: lazyRouteComponent(() => import('./pages/me/profile.tsx'), 'ProfilePage'),
})

const tokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/-/me/tokens',
  validateSearch: readTokenSearch,
  component: lazyRouteComponent(() => import('./pages/me/tokens.tsx'), 'TokensPage'),
})

const sessionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/-/me/sessions',
  component: lazyRouteComponent(() => import('./pages/me/sessions.tsx'), 'SessionsPage'),
})

const agentImageRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/clusters/$cluster/agent_images/$image',
  component: lazyRouteComponent(() => import('./pages/agent-image/page.tsx'), 'AgentImagePage'),
})

const pipelineTemplateRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/pipeline-templates/$template',
  component: lazyRouteComponent(() => import('./pages/pipeline-template/page.tsx'), 'PipelineTemplatePage'),
})

const routeTree = rootRoute.addChildren([
  startRoute,
  pipelinesRoute,
  pipelineRoute,
  pipelineSettingsRoute,
  newPipelineRoute,
  organizationBuildsRoute,
  buildRoute,
  firstRunRoute,
  profileRoute,
  tokensRoute,
  sessionsRoute,
  agentsRoute,
  clustersRoute,
  clusterRoute,
  queueRoute,
  agentRoute,
  agentInQueueRoute,
  agentImageRoute,
  pipelineTemplateRoute,
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
