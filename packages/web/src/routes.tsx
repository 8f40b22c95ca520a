// Address → page. The server knows the same addresses in pages/addresses.ts.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Missing, Problem } from './parts/States.tsx'
import { StartPage } from './pages/start/page.tsx'
import { Shell } from './shell/Shell.tsx'

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: () => <Missing what="This page" /> })

const startRoute = createRoute({ getParentRoute: () => rootRoute, path: '/-/start', component: StartPage })

const pipelinesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org',
  component: lazyRouteComponent(() => import('./pages/pipelines/page.tsx'), 'PipelinesPage'),
})

const pipelineRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org/$pipeline',
  component: lazyRouteComponent(() => import('./pages/pipeline/page.tsx'), 'PipelinePage'),
})

const organizationBuildsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/builds',
  component: lazyRouteComponent(() => import('./pages/builds/page.tsx'), 'BuildsPage'),
})

const buildRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$org/$pipeline/builds/$number',
  component: lazyRouteComponent(() => import('./pages/build/page.tsx'), 'BuildPage'),
})

const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organizations/$org/agents',
  component: lazyRouteComponent(() => import('./pages/agents/page.tsx'), 'AgentsPage'),
})

const routeTree = rootRoute.addChildren([
  startRoute,
  pipelinesRoute,
  pipelineRoute,
  organizationBuildsRoute,
  buildRoute,
  agentsRoute,
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
