// The parts of an organization that the navigation names. Only what has a page is named.
import type { IconName } from '../parts/icon-names.ts'

interface Section {
  title: string
  icon: IconName
  /** The keys that lead there. */
  keys: string
  path: (org: string) => string
  /** Below which addresses it is marked. */
  holds: (org: string) => RegExp
}

const below = (org: string, names: string) => new RegExp(`^/organizations/${org}/(?:${names})(?:/|$)`)

export const sections: readonly Section[] = [
  {
    title: 'Pipelines',
    icon: 'workflow',
    keys: 'g p',
    path: (org) => `/${org}`,
    holds: (org) => new RegExp(`^/${org}(?:/|$)|^/organizations/${org}/(?:pipelines|pipeline-templates)/`),
  },
  {
    title: 'Builds',
    icon: 'list',
    keys: 'g b',
    path: (org) => `/organizations/${org}/builds`,
    holds: (org) => below(org, 'builds'),
  },
  {
    title: 'Tests',
    icon: 'circle-check',
    keys: 'g t',
    path: (org) => `/organizations/${org}/analytics/suites`,
    holds: (org) => below(org, 'analytics'),
  },
  {
    title: 'Logs',
    icon: 'search',
    keys: 'g l',
    path: (org) => `/organizations/${org}/log-search`,
    holds: (org) => below(org, 'log-search'),
  },
  {
    title: 'Insight',
    icon: 'chart-gantt',
    keys: 'g i',
    path: (org) => `/organizations/${org}/insights`,
    holds: (org) => below(org, 'insights'),
  },
  {
    title: 'Agents',
    icon: 'server',
    keys: 'g a',
    path: (org) => `/organizations/${org}/agents`,
    holds: (org) => below(org, 'agents|clusters'),
  },
  {
    title: 'Settings',
    icon: 'settings',
    keys: 'g s',
    path: (org) => `/organizations/${org}/settings`,
    holds: (org) => below(org, 'settings'),
  },
]
