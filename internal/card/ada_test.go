package card

var ada = Data{UserID: "100000000000000002", GlobalName: "Ada Lovelace", Username: "ada", Guild: "Gophers", Rank: 1, Level: 10, XP: 4200, Messages: 182, NextLevelXP: 5100, Progress: 5.26}
