try {
  const theme = localStorage.getItem('millrace.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the theme of the system counts.
}
