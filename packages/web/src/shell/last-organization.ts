// The organization that `/` leads to.
const setting = 'millrace.organization'

export const readLastOrganization = (): string | null => localStorage.getItem(setting)

export const storeLastOrganization = (slug: string): void => localStorage.setItem(setting, slug)
