// Address → page. The server knows the same addresses in pages/addresses.ts.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router'
import { Missing, Problem } from './parts/States.tsx'
import { readAgentSearch } from './pages/agents/search.ts'
import { readFilters } from './pages/builds/filters.ts'
import { readTokenSearch } from './pages/me/search.ts'
import { readSearch } from './pages/pipelines/choose.ts'
import { StartPage } from './pages/start/page.tsx'
import { readBuildSearch } from './pages/build/search.ts'
import { Shell } from './shell/Shell.tsx'

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: () => <Missing what="This page" /> })

/** A page. `readSearch` reads what follows the question mark. */
const page = <Path extends string, Search extends object = object>(
  path: Path,
  component: RouteComponent,
  readSearch: (search: Record<string, unknown>) => Search = (search) => search as Search,
) => createRoute({ getParentRoute: () => rootRoute, path, component, validateSearch: readSearch })

const agentPage = lazyRouteComponent(() => import('./pages/agent/page.tsx'), 'AgentPage')

const routeTree = rootRoute.addChildren([
  page('/-/start', StartPage),
  page(
    '/$org',
    lazyRouteComponent(() => import('./pages/pipelines/page.tsx'), 'PipelinesPage'),
    readSearch,
  ),
  page(
    '/$org/$pipeline',
    lazyRouteComponent(() => import('./pages/pipeline/page.tsx'), 'PipelinePage'),
    readFilters,
  ),
  page(
    '/organizations/$org/builds',
    lazyRouteComponent(() => import('./pages/builds/page.tsx'), 'BuildsPage'),
    readFilters,
  ),
  page(
    '/$org/$pipeline/builds/$number',
    lazyRouteComponent(() => import('./pages/build/page.tsx'), 'BuildPage'),
    readBuildSearch,
  ),
  page(
    '/organizations/$org/pipelines/new',
    lazyRouteComponent(() => import('./pages/pipeline-new/page.tsx'), 'NewPipelinePage'),
  ),
  page(
    '/$org/$pipeline/settings/$section',
    lazyRouteComponent(() => import('./pages/pipeline-settings/page.tsx'), 'PipelineSettingsPage'),
  ),
  page(
    '/organizations/$org/agents',
    lazyRouteComponent(() => import('./pages/agents/page.tsx'), 'AgentsPage'),
    readAgentSearch,
  ),
  page(
    '/organizations/$org/clusters',
    lazyRouteComponent(() => import('./pages/clusters/page.tsx'), 'ClustersPage'),
  ),
  page(
    '/organizations/$org/clusters/$cluster',
    lazyRouteComponent(() => import('./pages/cluster/page.tsx'), 'ClusterPage'),
  ),
  page(
    '/organizations/$org/clusters/$cluster/queues/$queue',
    lazyRouteComponent(() => import('./pages/queue/page.tsx'), 'QueuePage'),
  ),
  page('/organizations/$org/clusters/$cluster/agents/$agent', agentPage),
  page('/organizations/$org/clusters/$cluster/queues/$queue/agents/$agent', agentPage),
  page(
    '/organizations/$org/start',
    lazyRouteComponent(() => import('./pages/first-run/page.tsx'), 'FirstRunPage'),
  ),
  page(
    '/-/me',
    lazyRouteComponent(() => import('./pages/me/profile.tsx'), 'ProfilePage'),
  ),
  page(
    '/-/me/tokens',
    lazyRouteComponent(() => import('./pages/me/tokens.tsx'), 'TokensPage'),
    readTokenSearch,
  ),
  page(
    '/-/me/sessions',
    lazyRouteComponent(() => import('./pages/me/sessions.tsx'), 'SessionsPage'),
  ),
  page(
    '/organizations/$org/clusters/$cluster/agent_images/$image',
    lazyRouteComponent(() => import('./pages/agent-image/page.tsx'), 'AgentImagePage'),
  ),
  page(
    '/organizations/$org/pipeline-templates/$template',
    lazyRouteComponent(() => import('./pages/pipeline-template/page.tsx'), 'PipelineTemplatePage'),
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
