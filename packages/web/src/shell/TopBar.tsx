import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Icon } from '../parts/Icon.tsx'
import { showKeys } from '../parts/keys.ts'
import { Menu } from '../parts/Menu.tsx'
import { organizationsQuery } from './queries.ts'
import { UserMenu } from './UserMenu.tsx'
import styles from './TopBar.module.css'

export function TopBar({ onSearch }: { onSearch: () => void }) {
  const { org } = useParams({ strict: false })
  return (
    <header className={styles.bar}>
      <Breadcrumb />
      <button type="button" className={styles.search} onClick={onSearch} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span className={styles.searchText}>Search or jump…</span>
        <kbd className={styles.keys}>{showKeys('mod+k')}</kbd>
      </button>
      {org !== undefined && <Navigation org={org} />}
      <UserMenu />
    </header>
  )
}

function Breadcrumb() {
  const { org, pipeline, number } = useParams({ strict: false })
  return (
    <nav aria-label="Breadcrumb" className={styles.crumbs}>
      {org === undefined ? (
        <Link to="/-/start" className={`truncated ${styles.crumb}`}>
          Millrace
        </Link>
      ) : (
        <OrganizationMenu org={org} />
      )}
      {org !== undefined && pipeline !== undefined && (
        <Link to="/$org/$pipeline" params={{ org, pipeline }} className={`truncated ${styles.crumb}`}>
          {pipeline}
        </Link>
      )}
      {org !== undefined && pipeline !== undefined && number !== undefined && (
        <span className={`truncated ${styles.crumb}`} aria-current="page">
          #{number}
        </span>
      )}
    </nav>
  )
}

function OrganizationMenu({ org }: { org: string }) {
  const { data = [] } = useQuery(organizationsQuery())
  const name = data.find(({ slug }) => slug === org)?.name ?? org
  const entries = data.map((each) => ({
    label: each.name,
    isChecked: each.slug === org,
    action: { to: `/${each.slug}` },
  }))
  return (
    <span className={styles.organization}>
      <Link to="/$org" params={{ org }} className={`truncated ${styles.crumb}`}>
        {name}
      </Link>
      {entries.length > 1 && (
        <Menu label="Other organizations" entries={entries}>
          <Icon name="chevron-down" size={14} />
        </Menu>
      )}
    </span>
  )
}

function Navigation({ org }: { org: string }) {
  const active = { className: `${styles.link} ${styles.active}`, 'aria-current': 'page' as const }
  return (
    <nav aria-label="Pages of the organization" className={styles.pages}>
      <Link
        to="/$org"
        params={{ org }}
        activeOptions={{ exact: true }}
        className={styles.link}
        activeProps={active}
      >
        Pipelines
      </Link>
      <Link to="/organizations/$org/builds" params={{ org }} className={styles.link} activeProps={active}>
        Builds
      </Link>
      <Link to="/organizations/$org/agents" params={{ org }} className={styles.link} activeProps={active}>
        Agents
      </Link>
    </nav>
  )
}
