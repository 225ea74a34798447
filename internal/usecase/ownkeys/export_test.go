package ownkeys

const MaxHistory = maxHistory
