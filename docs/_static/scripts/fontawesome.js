/* In place of the theme's script of the same name, 1.5 MB: the icons of the book come from the theme's fonts. */
