/** `OrganizationMemberUpdatedEvent` reads as "Organization member updated". */
export function eventWords(type: string): string {
  const words = type.replace(/Event$/, '').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return words.charAt(0) + words.slice(1).toLowerCase().replaceAll('api ', 'API ').replaceAll('sso ', 'SSO ')
}

/** A value of an event's data, on one line. */
export const valueText = (value: unknown): string =>
  value === null || value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
