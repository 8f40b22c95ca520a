import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { Icon } from '../parts/Icon.tsx'
import { showKeys } from '../parts/keys.ts'
import { showLabel } from '../parts/labels.ts'
import { Menu } from '../parts/Menu.tsx'
import { usePhone } from '../parts/use-media.ts'
import { lastCrumbs, useCrumbs } from './crumbs.ts'
import { useNamedOrganization, useOrganization } from './organization.ts'
import { organizationsQuery } from './queries.ts'
import { sections } from './sections.ts'
import { UserMenu } from './UserMenu.tsx'
import styles from './TopBar.module.css'

/** A link is active at its own address only; what else is marked is said here. */
const exact = { exact: true, includeSearch: false }

export function TopBar({ onSearch }: { onSearch: () => void }) {
  const org = useOrganization()
  return (
    <header className={styles.bar}>
      <div className={styles.place}>
        <Link to="/-/start" className={styles.mark} aria-label="Millrace" title="Millrace">
          <Icon name="mark" size={24} />
        </Link>
        <Breadcrumb />
      </div>
      <button type="button" className={styles.search} onClick={onSearch} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span className={styles.searchText}>Search or jump…</span>
        <kbd className={styles.keys}>{showKeys('mod+k')}</kbd>
      </button>
      <div className={styles.end}>
        {org !== null && <Navigation org={org} />}
        <UserMenu />
      </div>
    </header>
  )
}

function Breadcrumb() {
  const org = useNamedOrganization()
  const all = useCrumbs()
  const crumbs = usePhone() ? lastCrumbs(all) : all
  const hasOrganization = crumbs.length < 2 || crumbs === all
  return (
    <nav aria-label="Breadcrumb" className={styles.crumbs}>
      {org !== null && hasOrganization && <OrganizationMenu org={org} />}
      {crumbs.map(({ name, to }, index) => (
        <Link
          key={to}
          to={to}
          activeOptions={exact}
          title={showLabel(name)}
          className={`truncated ${styles.crumb}`}
          {...(index === crumbs.length - 1 ? { 'aria-current': 'page' as const } : {})}
        >
          {showLabel(name)}
        </Link>
      ))}
    </nav>
  )
}

function OrganizationMenu({ org }: { org: string }) {
  const { data = [] } = useQuery(organizationsQuery())
  const here = data.find(({ slug }) => slug === org)
  const name = here === undefined ? org : titleOf(here)
  const entries = data.map((each) => ({
    label: showLabel(titleOf(each)),
    isChecked: each.slug === org,
    action: { to: `/${each.slug}` },
  }))
  return (
    <span className={styles.organization}>
      <Link
        to="/$org"
        params={{ org }}
        activeOptions={exact}
        title={showLabel(name)}
        className={`truncated ${styles.crumb}`}
      >
        {showLabel(name)}
      </Link>
      {entries.length > 1 && (
        <Menu label="Other organizations" entries={entries}>
          <Icon name="chevron-down" size={14} />
        </Menu>
      )}
    </span>
  )
}

/** The emoji stands before the name. */
const titleOf = ({ name, emoji }: { name: string; emoji: string | null }): string =>
  emoji === null ? name : `${emoji} ${name}`

/** A link is marked on every page of its section. */
function Navigation({ org }: { org: string }) {
  const { pathname } = useLocation()
  return (
    <nav aria-label="Pages of the organization" className={styles.pages}>
      {sections.map(({ title, path, holds }) => (
        <Link
          key={title}
          to={path(org)}
          activeOptions={exact}
          className={styles.link}
          {...(holds(org).test(pathname) ? { 'data-here': true, 'aria-current': 'true' as const } : {})}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}
