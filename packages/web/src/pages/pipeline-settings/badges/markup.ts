// The address of a badge, and how pages show it.
export interface Look {
  branch: string
  style: 'rounded' | 'square'
  theme: 'default' | 'github' | 'dark' | 'light'
}

export function badgeUrl(base: string, { branch, style, theme }: Look): string {
  const query = new URLSearchParams({
    ...(branch === '' ? {} : { branch }),
    ...(style === 'rounded' ? {} : { style }),
    ...(theme === 'default' ? {} : { theme }),
  })
  return query.size === 0 ? base : `${base}?${query}`
}

/** What a Markdown text and an HTML attribute would read as their own is escaped. */
export const markdownOf = (name: string, image: string, page: string): string =>
  `[![${name.replaceAll(/[\\[\]]/g, '\\$&')}](${image})](${page})`

export const htmlOf = (name: string, image: string, page: string): string =>
  `<a href="${escape(page)}"><img src="${escape(image)}" alt="${escape(name)}"></a>`

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
