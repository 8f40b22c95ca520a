// The organization that the page is about. Pages of a person, and addresses without a page, have the one that was open last.
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { readLastOrganization } from './last-organization.ts'
import { organizationsQuery } from './queries.ts'

/** null: the address names none. */
export function organizationOf(pathname: string): string | null {
  const [, first = '', second = ''] = pathname.split('/')
  const slug = first === 'organizations' ? second : first
  return slug === '' || slug === '-' ? null : slug
}

export const useNamedOrganization = (): string | null =>
  useLocation({ select: ({ pathname }) => organizationOf(pathname) })

/** null: the person belongs to none, or it is not known yet. */
export function useOrganization(): string | null {
  const named = useNamedOrganization()
  const { data } = useQuery({ ...organizationsQuery(), enabled: named === null })
  const last = readLastOrganization()
  if (named !== null || data === undefined) return named ?? last
  return (data.find(({ slug }) => slug === last) ?? data[0])?.slug ?? null
}
